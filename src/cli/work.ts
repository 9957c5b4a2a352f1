import { endWithParent } from '../experiment/launch/parent-watch.ts';
import { endOnInterrupt } from './interruption.ts';
import { main } from './program.ts';

// A reader such as `head` may leave before we are done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

endWithParent();
endOnInterrupt();
process.exitCode = await main(process.argv.slice(2));
