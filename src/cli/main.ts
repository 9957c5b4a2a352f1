#!/usr/bin/env node
import { main } from './program.ts';

// A reader such as `head` may leave before we are done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.on('SIGINT', () => {
  process.stderr.write('\nragpp: interrupted; what was cached stays, so the same command goes on from there\n');
  setImmediate(() => process.exit(130)); // after the progress bar has heard of it too and given the cursor back
});

process.exitCode = await main(process.argv.slice(2));
