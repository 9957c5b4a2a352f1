import { fileURLToPath } from 'node:url';
import { connectQueue, QueueTables } from '../launch/queue-tables.ts';
import { recordVersion } from './environment.ts';
import { QueueWorker } from './queue-worker.ts';

/**
 * A worker of a queue whose arms are those of `arm-process.harness.ts`. Without a queue it prints its version of the
 * code.
 */
const [, , url, cacheFolder = ''] = process.argv;
if (url === undefined) process.stdout.write(recordVersion());
else {
  const end = new AbortController();
  process.once('SIGTERM', () => end.abort());
  const database = await connectQueue(url);
  const main = fileURLToPath(import.meta.resolve('../launch/arm-process.harness.js'));
  await new QueueWorker(database, await QueueTables.open(database), {
    ...{ url, workers: 1, idleSeconds: null, leaseSeconds: 0.5, cacheFolder, signal: end.signal },
    program: { nodeOptions: [], main },
    log: (line) => process.stderr.write(`${line}\n`),
  }).serve();
  await database.dispose();
}
