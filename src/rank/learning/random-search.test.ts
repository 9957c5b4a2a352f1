import { expect, test } from 'vitest';
import { createLinearModel } from './linear-model.ts';
import { listHandTunedValues, nameParameterValues } from './parameters.ts';
import { randomSearch } from './random-search.ts';
import { createTrajectoryModel } from './trajectory-model.ts';

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
