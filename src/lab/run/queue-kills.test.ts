import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { findBuiltModule } from '../../core/built-module.harness.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { queue } from '../launch/launcher.ts';
import { findOwnProgram } from '../launch/own-process.ts';
import { createDatabase } from '../launch/queue.harness.ts';
import { QueueLauncher } from '../launch/queue.ts';
import { connectQueue } from '../launch/queue-tables.ts';
import { joinFailurePath, outcomesIn } from './arm-record.ts';
import { DATA_NAME } from './offered-data.ts';

/** A server for this test: `.ci/postgres` sets it. */
const { RAGPP_TEST_POSTGRES: server } = process.env;
if (server === undefined)
  process.stderr.write('kills of workers were not tested: RAGPP_TEST_POSTGRES is not set; run .ci/postgres\n');

const root = mkdtempSync(join(tmpdir(), 'ragpp-queue-kills-'));
afterAll(() => rmSync(root, { recursive: true, maxRetries: 5 }));
const WORKERS = 3;
const KILLS = Number(process.env.RAGPP_TEST_KILLS ?? 10);
const ARMS = 41;

describe.skipIf(server === undefined)('a queue whose workers are killed', () => {
  test(`${KILLS} times at random moments has one outcome of each arm, and says which arms lost both workers`, async () => {
    const url = await createDatabase(server as string, 'queue_kills');
    const program = findBuiltModule('lab/run/queue-worker.harness');
    const recordVersion = execFileSync(process.execPath, [program], { encoding: 'utf8' });
    const random = createRandom(7, 'queue-kills');
    const start = () =>
      spawn(process.execPath, [program, url, root], {
        ...{ stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, TMPDIR: root } },
      });
    let kills = 0;
    let isOver = false;
    const over = new AbortController();
    const ended = once(over.signal, 'abort');
    /** Kills a worker at some moment after its first arm, and starts another. */
    const keepKilling = async (): Promise<void> => {
      while (!isOver) {
        const worker: ChildProcess = start();
        const exit = once(worker, 'exit');
        await Promise.race([once(worker.stderr as Readable, 'data'), ended]);
        await sleep(random.integer(300));
        worker.kill(isOver ? 'SIGTERM' : 'SIGKILL');
        if (!isOver) kills++;
        await exit;
      }
    };
    const killing = Promise.all(Array.from({ length: WORKERS }, keepKilling));
    const counts = { done: 0, lost: 0 };
    for (let run = 0; kills < KILLS; run++) {
      const folder = mkdtempSync(join(root, 'run-'));
      for (const name of ['config.yaml', 'environment.json']) writeFileSync(join(folder, name), '{}');
      writeFileSync(join(folder, 'state.json'), JSON.stringify({ recordVersion }));
      const arms = Array.from({ length: ARMS }, (_, i) => `long ${run}-${i}`);
      await new QueueLauncher(
        queue.options.parse({ name: 'queue', queue: url, pollSeconds: 0.1, leaseSeconds: 1 }),
      ).launch({
        ...{ folder, arms, backend: 'wasm', cacheFolder: root, program: findOwnProgram() },
        ...{ outcomes: outcomesIn(folder), report: () => {}, signal: new AbortController().signal },
        runHere: () => Promise.reject(new Error('no arm is run in this process')),
        offer: async (blobs) => {
          await blobs.put('data', Uint8Array.of(1));
          return { [DATA_NAME]: 'data' };
        },
      });
      for (const arm of arms) {
        const { message } = JSON.parse(readFileSync(joinFailurePath(folder, arm), 'utf8')) as { message: string };
        if (/^by process \d+$/.test(message)) counts.done++;
        else {
          expect(message).toContain(`worker of the queue was lost, and so was that of the first try: ${arm}`);
          counts.lost++;
        }
      }
    }
    isOver = true;
    over.abort();
    await killing;
    process.stderr.write(`${kills} kills: ${counts.done} arms done, ${counts.lost} lost twice\n`);
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(counts.done).toBeGreaterThan(counts.lost);
    const database = await connectQueue(url);
    const rows = await database.transaction((session) => session.query('select 1 from ragpp_queue_arms'));
    await database.dispose();
    expect(rows).toEqual([]);
  }, 1_200_000);
});
