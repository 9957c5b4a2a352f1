import { expect, test } from 'vitest';
import { coordinateAscent } from './parameter-search.ts';
import type { Parametric } from './parameters.ts';

const model: Parametric = {
  parameters: [
    { name: 'weights', labels: ['a', 'b'], constraint: 'free', initial: [0, 0], uniform: [1, 1], range: [-1, 1] },
    { name: 'rate', labels: ['rate'], constraint: 'positive', initial: [1], uniform: [1], range: [0.1, 1] },
  ],
};
/** Greatest, 0, at (2, -3, 0.5). */
const climbHill = async ([a, b, rate]: Float64Array) => -((a! - 2) ** 2) - (b! + 3) ** 2 - (rate! - 0.5) ** 2;

test('climbs a hill to its top within the budget, and the same way again', async () => {
  const options = { budget: 2003, seed: 3 };
  const { values, value, evaluations, isStart } = await coordinateAscent(model, climbHill, options);
  expect(evaluations).toBe(2003);
  expect(value).toBeGreaterThan(-0.01);
  expect(values[0]).toBeCloseTo(2, 0);
  expect(values[1]).toBeCloseTo(-3, 0);
  expect(await coordinateAscent(model, climbHill, options)).toEqual({ values, value, evaluations, isStart });
  expect(isStart).toBe(false);
});

test('a hill beside a higher one is left by a new start', async () => {
  const climbTwoPeaks = async ([a]: Float64Array) => Math.max(1 - a! ** 2, 2 - (20 * (a! - 0.7)) ** 2);
  const { value } = await coordinateAscent(model, climbTwoPeaks, { budget: 3001, seed: 3 });
  expect(value).toBeGreaterThan(1.5);
});

test('a small budget is kept in the middle of a coordinate', async () => {
  let asked = 0;
  const countAndClimb = (values: Float64Array) => {
    asked++;
    return climbHill(values);
  };
  const { evaluations } = await coordinateAscent(model, countAndClimb, { budget: 7, seed: 3 });
  expect([evaluations, asked]).toEqual([7, 7]);
});
