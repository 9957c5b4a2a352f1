import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { runBenchCommand } from './command.harness.ts';
import { formatLiveTable, type LiveCost, measureLive } from './live.ts';
import { LIVE_ARMS } from './live-arms.ts';

beforeAll(() => useBackend('wasm'));

test.each(Object.keys(LIVE_ARMS))('measures a turn and questions of %s', async (arm) => {
  const cost = await measureLive(arm, 40, { turns: 10, rounds: 2, dimension: 8, seed: 3 });
  expect([cost.arm, cost.size, cost.asked.length, cost.askedWhole.length]).toEqual([arm, 40, 2, 2]);
  for (const figure of [cost.write, cost.batch, cost.batchWhole, cost.held, ...cost.asked, ...cost.askedWhole])
    expect(figure).toBeGreaterThan(0);
});

test('the table has how each time grows with the turns', () => {
  const buildCost = (size: number, milliseconds: number): LiveCost => ({
    ...{ arm: 'bm25', size, write: 1, changed: milliseconds, changedWhole: milliseconds, batch: 2, batchWhole: 2 },
    ...{ asked: [3], askedWhole: [3, 4], held: 7 },
  });
  const rows = formatLiveTable([buildCost(100, 1), buildCost(1000, 10)]).split('\n');
  expect(rows[2]).toMatch(/^bm25 +100 +1\.00 +1\.00 +1\.00 +3\.00 +3\.00 +2\.00 +4\.00 +4\.00 +2\.00 +7\.00$/);
  expect(rows.at(-1)).toMatch(/^bm25 +exponent +0\.00 +1\.00 +1\.00 /);
});

test('an unknown arm is an error', async () => {
  const { status, errors } = await runBenchCommand('live', '--arms', 'bm25,none');
  expect([status, errors]).toEqual([2, `unknown arm: none; use some of ${Object.keys(LIVE_ARMS).join(', ')}\n`]);
});
