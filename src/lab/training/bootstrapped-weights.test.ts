import { describe, expect, test } from 'vitest';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from '../../rank/learning/feature-table.fixture.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { train } from '../../rank/learning/training.ts';
import { bootstrapWeights } from './bootstrapped-weights.ts';

const signals = ['a', 'b', 'c'];
const shape = { queries: 61, candidates: 7, signals, weights: [1, -1, 0], noise: 0.5, seed: 5 };
const point = {
  loss: { name: 'listwise' as const, temperature: 1 },
  learningRate: 0.2,
  l2: 0.001,
  epochs: 11,
  patience: 11,
  batchSize: null,
  startNoise: 0,
};
const createBootstrapModel = (table: ReturnType<typeof drawHandmadeTable>) =>
  createLinearModel({ signals, nonNegative: [], initial: {} }, fitStandardisation(table, signals));
const options = { resamples: 13, level: 0.9, seed: 3 };

describe('on wasm', () => {
  useBackendWithoutLeaks('wasm');

  test('intervals hold what all rows teach, and tell what matters from what does not', async () => {
    const table = drawHandmadeTable({ ...shape, clusters: 7 });
    const model = createBootstrapModel(table);
    const { values } = await train(model, table, null, { ...point, seed: 3 });
    const told: number[] = [];
    const { low, high } = await bootstrapWeights(model, table, point, options, (done) => told.push(done));
    for (const [p, value] of values.entries()) expect(low[p]! < value && value < high[p]!, `number ${p}`).toBe(true);
    expect([low[0]! > 0, high[1]! < 0, low[2]! < 0 && high[2]! > 0]).toEqual([true, true, true]);
    expect(told).toEqual(Array.from({ length: 13 }, (_, i) => i + 1));
    expect(await bootstrapWeights(model, table, point, options)).toEqual({ low, high });
  });

  test('what is resampled is conversations: of a single one nothing varies', async () => {
    const table = drawHandmadeTable({ ...shape, clusters: 1 });
    const { low, high } = await bootstrapWeights(createBootstrapModel(table), table, point, options);
    expect(low).toEqual(high);
  });

  test('a wider level gives wider intervals', async () => {
    const table = drawHandmadeTable({ ...shape, clusters: 7 });
    const narrow = await bootstrapWeights(createBootstrapModel(table), table, point, { ...options, level: 0.2 });
    const wide = await bootstrapWeights(createBootstrapModel(table), table, point, options);
    for (const p of [0, 1, 2]) {
      expect(wide.low[p]!).toBeLessThan(narrow.low[p]!);
      expect(wide.high[p]!).toBeGreaterThan(narrow.high[p]!);
    }
  });
});
