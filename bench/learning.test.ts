import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { runBenchCommand } from './command.harness.ts';
import { formatLearningTable, measureLearning } from './learning.ts';
import { drawLearningWorkload, type LearningSettings } from './learning-workload.ts';

const settings: LearningSettings = { queries: 101, candidates: 13, signals: 5, epochs: 17, repeats: 1, seed: 3 };
const { table, model } = drawLearningWorkload(settings);

beforeAll(() => useBackend('wasm'));

test('the loss starts at that of equal scores and falls', async () => {
  const ours = await measureLearning(settings, table, model, 'host');
  expect(ours.firstLoss).toBeCloseTo(Math.log(13), 5);
  expect(ours.lastLoss).toBeLessThan(0.9 * ours.firstLoss);
});

test('a row has the time of an epoch', () => {
  const row = { name: 'steps on the host', seconds: 2.5, epochs: 100, firstLoss: 2, lastLoss: 1 };
  expect(formatLearningTable([row])).toMatch(/\nsteps on the host +100 +2\.500 +25\.0 +2\.00000 +1\.00000$/);
});

describe('bench command', () => {
  const run = (...args: string[]) => runBenchCommand('learning', ...args);

  test('prints seconds and losses', async () => {
    const sizes = ['--queries', '31', '--candidates', '7', '--signals', '3', '--epochs', '5', '--repeats', '1'];
    const { output } = await run(...sizes, '--backend', 'wasm');
    expect(output).toMatch(/\ndata: 31 queries x 7 candidates x 3 signals, seed 7\n/);
    for (const steps of ['host', 'device'])
      expect(output).toMatch(
        new RegExp(`\\nsteps on the ${steps} +5 +\\d+\\.\\d{3} +\\d+\\.\\d +1\\.94591 +1\\.\\d{5}\\n`),
      );
    const batches = await run(...sizes, '--batch', '8', '--backend', 'wasm');
    expect(batches.output).toMatch(/\ntraining: 5 epochs of Adam, 8 queries in a step; /);
  });

  test.each([
    [['--queries', 'x'], '--queries is not an integer: x; give one from 1\n'],
    [['--epochs', '0'], '--epochs is not an integer: 0; give one from 1\n'],
  ])('a wrong option ends with 2: %j', async (args, errors) => {
    expect(await run(...args)).toMatchObject({ status: 2, errors });
  });
});
