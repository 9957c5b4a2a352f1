import { printError } from '../core/terminal/progress.ts';
import { endWithParent } from '../lab/launch/own-process.ts';
import { endOnInterrupt, isService } from './process/supervision.ts';
import { main } from './program.ts';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0); // a reader such as `head` may leave before we are done
  printError(`ragpp: cannot write to stdout: ${message}; write to a place with more room\n`);
  process.exit(1);
});

endWithParent();
const argv = process.argv.slice(2);
if (!isService(argv)) endOnInterrupt();
process.exitCode = await main(argv);
