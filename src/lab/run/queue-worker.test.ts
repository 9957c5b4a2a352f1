import { describe, expect, test } from 'vitest';
import { projectVersion } from '../../core/code/package-root.ts';
import { createDatabase } from '../launch/queue.harness.ts';
import { connectQueue, QueueTables } from '../launch/queue-tables.ts';
import { recordVersion } from './environment.ts';
import { DATA_NAME } from './offered-data.ts';
import { QueueWorker } from './queue-worker.ts';

/** A server for this test: `.ci/postgres` sets it. */
const { RAGPP_TEST_POSTGRES: server } = process.env;

describe.skipIf(server === undefined)('a worker', () => {
  test('refuses a run whose data is gone, gives its arm back, and says what to do', async () => {
    const url = await createDatabase(server as string, 'queue_worker');
    const database = await connectQueue(url);
    const tables = await QueueTables.open(database);
    const facts = { version: projectVersion(), code: recordVersion(), backend: 'wasm', blobBytes: 7 };
    await tables.add({ run: 'run', facts, files: { [DATA_NAME]: 'datasets/gone' } }, ['a'], 100);
    const worker = new QueueWorker(database, tables, {
      ...{ url, workers: 1, idleSeconds: 0.1, leaseSeconds: 50, cacheFolder: 'unused', log: () => {} },
      signal: new AbortController().signal,
    });
    await expect(worker.serve()).rejects.toThrow(
      /^run run cannot be worked on here: its data is not in the queue: datasets\/gone; start the run again$/,
    );
    expect(await tables.lease('another', ['run'], 100)).toEqual({ run: 'run', arm: 'a' });
    expect(await tables.isLastTry({ run: 'run', arm: 'a' })).toBe(false);
    await database.dispose();
  });
});
