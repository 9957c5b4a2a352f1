import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createTableMetric } from './fit-options.ts';
import { createLinearModel } from './linear-model.ts';
import {
  computeEqualBudget,
  countRowEvaluations,
  drawAround,
  drawValues,
  Evaluations,
  GRADIENT_EVALUATIONS,
  randomSearch,
  searchOnTable,
} from './parameter-search.ts';
import { listHandTunedValues, nameParameterValues, type ParameterSpec } from './parameters.ts';
import { createTrajectoryModel } from './trajectory-model.ts';

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

const model = createTrajectoryModel({ dimensions: 3, self: 'include' });
const readAlpha = (values: Float64Array) => nameParameterValues(model, values).alpha!.alpha!;

test('asks as often as it may, the hand-tuned values first, and keeps the best', async () => {
  const asked: number[] = [];
  const evaluateObjective = async (values: Float64Array) => {
    asked.push(readAlpha(values));
    return -Math.abs(readAlpha(values) - 0.2);
  };
  const { values, value, evaluations } = await randomSearch(model, evaluateObjective, { budget: 97, seed: 3 });
  expect(evaluations).toBe(97);
  expect(asked).toHaveLength(97);
  expect(asked[0]).toBe(0.7);
  expect(value).toBe(Math.max(...asked.map((alpha) => -Math.abs(alpha - 0.2))));
  expect(readAlpha(values)).toBeCloseTo(0.2, 1);
  const again = await randomSearch(model, evaluateObjective, { budget: 97, seed: 3 });
  expect(again.values).toEqual(values);
  expect((await randomSearch(model, evaluateObjective, { budget: 97, seed: 5 })).values).not.toEqual(values);
});

const F = 142;
const signals = Array.from({ length: F }, (_, i) => `s${i}`);
const many = createLinearModel(
  { signals, nonNegative: [], initial: { s0: 1 } },
  { means: new Float64Array(F), deviations: new Float64Array(F).fill(1) },
);

test('of many numbers it finds better ones than it began with: half of the draws are near them', async () => {
  // The best point is 1 everywhere: a draw of all numbers from their range, -1 to 1, is further from it than the start.
  const evaluateObjective = async (values: Float64Array) => -values.reduce((sum, value) => sum + (value - 1) ** 2, 0);
  const found = await randomSearch(many, evaluateObjective, { budget: 120, seed: 3 });
  expect(found.isStart).toBe(false);
  expect(found.value).toBeGreaterThan(await evaluateObjective(listHandTunedValues(many)));
  const distances: number[] = [];
  await randomSearch(
    many,
    async (values) => {
      distances.push(Math.hypot(...values.map((value, i) => value - (i === 0 ? 1 : 0))));
      return 0;
    },
    { budget: 121, seed: 3 },
  );
  expect(distances[0]).toBe(0);
  expect(distances.filter((distance, i) => i % 2 === 1 && distance > 0.05 && distance < 20)).toHaveLength(60);
  expect(Math.min(...distances.filter((_, i) => i > 0 && i % 2 === 0))).toBeGreaterThan(4);
});

test('where nothing is better it says so', async () => {
  const start = listHandTunedValues(many);
  const evaluateObjective = async (values: Float64Array) => (values.every((value, i) => value === start[i]) ? 1 : 0);
  const found = await randomSearch(many, evaluateObjective, { budget: 19, seed: 3 });
  expect(found).toEqual({ values: start, value: 1, evaluations: 19, isStart: true });
});

test('a training evaluates its rows with their gradients each epoch, and the others before the first and after each', () => {
  const epochs = 3;
  expect(countRowEvaluations({ epochs, rows: 11, validationRows: 5 })).toBe(
    GRADIENT_EVALUATIONS * (11 + 11 + 11) + 5 + 5 + 5 + 5,
  );
  expect(countRowEvaluations({ epochs: 0, rows: 11, validationRows: 0 })).toBe(0);
});

test('a search has as many evaluations of all rows as make up the same work, and one at least', () => {
  expect(computeEqualBudget(7 * 11, 11)).toBe(7);
  expect(computeEqualBudget(7 * 11 + 7, 11)).toBe(8);
  expect(computeEqualBudget(3, 11)).toBe(1);
});
