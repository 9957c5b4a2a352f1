import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createLinearModel } from './linear-model.ts';
import { drawAround, drawValues, Evaluations, searchOnTable } from './parameter-search.ts';
import type { ParameterSpec } from './parameters.ts';
import { createTableMetric } from './table-metrics.ts';

const buildSpec = (constraint: ParameterSpec['constraint'], range: [number, number], count = 1): ParameterSpec => {
  const labels = Array.from({ length: count }, (_, i) => `${i}`);
  return { name: 'x', labels, constraint, initial: labels.map(() => 1), uniform: labels.map(() => 1), range };
};
const drawParameter = (of: ParameterSpec) => {
  const stream = createRandom(3, 'parameter-search.test');
  return Array.from({ length: 1009 }, () => drawValues(of, stream));
};
const mean = (numbers: number[]) => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;

test('numbers are drawn evenly from their range, positive ones by their logarithm', () => {
  const free = drawParameter(buildSpec('free', [-3, 1])).flat();
  expect([Math.min(...free) >= -3, Math.max(...free) <= 1]).toEqual([true, true]);
  expect(mean(free)).toBeCloseTo(-1, 0);
  const positive = drawParameter(buildSpec('positive', [0.01, 100])).flat();
  expect(mean(positive.map(Math.log10))).toBeCloseTo(0, 0);
  expect(mean(positive.map((value) => Number(value < 1)))).toBeCloseTo(0.5, 1);
});

test('shares sum to 1 and favour none', () => {
  const shares = drawParameter(buildSpec('simplex', [0, 1], 3));
  for (const row of shares) expect(row.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  for (const i of [0, 1, 2]) expect(mean(shares.map((row) => row[i]!))).toBeCloseTo(1 / 3, 1);
  expect(mean(shares.map((row) => row[0]! ** 2))).toBeCloseTo(1 / 6, 1); // 2 / (3 * 4), of Dirichlet(1, 1, 1)
});

test('draws around the start are in their domains and within the range, on scales from small to large', () => {
  const parameters = [
    buildSpec('free', [-3, 1], 5),
    buildSpec('positive', [0.5, 2]),
    { ...buildSpec('simplex', [0, 1], 3), initial: [0.2, 0.3, 0.5] },
  ];
  const stream = createRandom(3, 'around');
  const draws = Array.from({ length: 1009 }, () => drawAround({ parameters }, stream));
  const scales: number[] = [];
  for (const values of draws) {
    expect(values[5]).toBeGreaterThanOrEqual(0.5);
    expect(values[5]).toBeLessThanOrEqual(2);
    expect(values[6]! + values[7]! + values[8]!).toBeCloseTo(1, 12);
    scales.push(Math.sqrt(mean([...values.subarray(0, 5)].map((value) => (value - 1) ** 2))));
  }
  expect(mean([...draws.map((values) => values[0]!)])).toBeCloseTo(1, 1);
  expect(mean(scales.map(Math.log10))).toBeCloseTo(-1, 0);
  expect([Math.min(...scales) < 0.02, Math.max(...scales) > 0.5]).toEqual([true, true]);
});

test('the best is kept, the first of equals, and the budget is spent one by one', async () => {
  const evaluations = new Evaluations(async ([x]) => -Math.abs(x!), 3);
  for (const x of [5, -1, 1]) await evaluations.ask(Float64Array.of(x));
  expect(evaluations.isSpent).toBe(true);
  expect(evaluations.summariseSearch()).toEqual({
    values: Float64Array.of(-1),
    value: -1,
    evaluations: 3,
    isStart: false,
  });
  expect(() => new Evaluations(async () => 0, 0)).toThrow(
    'budget is not an integer from 1: 0; pass a number of evaluations',
  );
});

describe('on wasm', () => {
  useBackendWithoutLeaks('wasm');

  test('the objective is the metric of the rankings', async () => {
    const table = drawHandmadeTable({
      queries: 11,
      candidates: 5,
      clusters: 2,
      signals: ['a'],
      seed: 3,
      weights: [-1],
    });
    const model = createLinearModel(
      { signals: ['a'], nonNegative: [], initial: {} },
      { means: new Float64Array(1), deviations: Float64Array.of(1) },
    );
    const asked = await searchOnTable(model, table, 'mrr@10', async (objective) => [
      await objective(Float64Array.of(-1)),
      await objective(Float64Array.of(1)),
    ]);
    expect(asked[0]).toBe(1);
    expect(asked[1]).toBe(createTableMetric(table, 'mrr@10').mean(table.values));
    const failing = searchOnTable(model, table, 'mrr@10', async () => {
      throw new Error('given up');
    });
    await expect(failing).rejects.toThrow('given up');
  });
});
