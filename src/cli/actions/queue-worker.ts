import type { BackendChoice } from '../../core/tensors/backend.ts';
import { foreseeBackend, useBackend } from '../../core/tensors/backend.ts';
import { printError, printOut } from '../../core/terminal/progress.ts';
import { connectQueue, QueueTables } from '../../lab/launch/queue-tables.ts';
import { QueueWorker } from '../../lab/run/queue-worker.ts';

interface WorkOptions {
  readonly queue: string;
  readonly workers: number;
  readonly idleSeconds?: number;
  readonly leaseSeconds: number;
  readonly backend?: BackendChoice;
  readonly cache: string;
  /** A run to take out of the queue; no arm is run then. */
  readonly withdraw?: string;
}

/** Runs arms of a queue until SIGTERM or SIGINT; a second one ends the process at once. */
export async function runQueueWorker(options: WorkOptions): Promise<void> {
  const { queue, workers, idleSeconds = null, leaseSeconds, backend: choice, cache: cacheFolder, withdraw } = options;
  const end = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end.abort());
  const database = await connectQueue(queue);
  try {
    const tables = await QueueTables.open(database);
    if (withdraw !== undefined) return await tables.remove(withdraw);
    const backend = choice && (foreseeBackend(choice) ?? (await useBackend(choice)));
    printOut(`works on the queue at ${database.address}\n`);
    const done = await new QueueWorker(database, tables, {
      ...{
        url: queue,
        workers,
        idleSeconds,
        leaseSeconds,
        cacheFolder,
        signal: end.signal,
        ...(backend && { backend }),
      },
      log: (line) => printError(`ragpp: ${line}\n`),
    }).serve();
    printOut(`${done} arms were run\n`);
  } finally {
    await database.dispose();
  }
}
