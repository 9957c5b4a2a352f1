#!/usr/bin/env node
import { endOnSignals } from './interruption.ts';
import { main } from './program.ts';

// A reader such as `head` may leave before we are done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

endOnSignals();
process.exitCode = await main(process.argv.slice(2));
