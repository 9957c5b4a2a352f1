import { Command } from 'commander';
import { cacheOption, createBackendOption, lazyAction, parseCount, parsePositive } from './options/options.ts';

export function queueWorkerCommand(): Command {
  return new Command('work')
    .description('run arms of the runs that wait in a queue; ends with SIGTERM or Ctrl-C')
    .requiredOption('--queue <url>', 'postgres://user@host:port/database of the launcher queue, without a password')
    .option('--workers <n>', 'arms at once, each in a process and with a backend of its own', parseCount, 1)
    .option('--idle-seconds <s>', 'end after this time without an arm; without it, wait for ever', parsePositive)
    .option('--lease-seconds <s>', 'an arm goes to another worker if this one is not heard of for s', parsePositive, 15)
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .option('--withdraw <run>', 'take a run out of the queue, which ends its arms, and run none')
    .addHelpText(
      'after',
      `
The data of a run comes through the database. A run of another version of the package, of the code or of the backend is
refused with a line that has both values. A password goes into PGPASSWORD.

Examples:
  ragpp work --queue postgres://ragpp@db.example.org/queue --workers 4
  ragpp run configs/quickstart.yaml --launcher '{name: queue, queue: "postgres://ragpp@db.example.org/queue"}'`,
    )
    .action(lazyAction(async () => (await import('./actions/queue-worker.ts')).runQueueWorker));
}
