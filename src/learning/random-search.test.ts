import { expect, test } from 'vitest';
import { namedValues } from './parameters.ts';
import { randomSearch } from './random-search.ts';
import { trajectoryModel } from './trajectory-model.ts';

const model = trajectoryModel({ dimensions: 3, self: 'include' });
const alphaOf = (values: Float64Array) => namedValues(model, values).alpha!.alpha!;

test('asks as often as it may, the hand-tuned values first, and keeps the best', async () => {
  const asked: number[] = [];
  const objective = async (values: Float64Array) => {
    asked.push(alphaOf(values));
    return -Math.abs(alphaOf(values) - 0.2);
  };
  const { values, value, evaluations } = await randomSearch(model, objective, { budget: 97, seed: 3 });
  expect(evaluations).toBe(97);
  expect(asked).toHaveLength(97);
  expect(asked[0]).toBe(0.7);
  expect(value).toBe(Math.max(...asked.map((alpha) => -Math.abs(alpha - 0.2))));
  expect(alphaOf(values)).toBeCloseTo(0.2, 1);
  const again = await randomSearch(model, objective, { budget: 97, seed: 3 });
  expect(again.values).toEqual(values);
  expect((await randomSearch(model, objective, { budget: 97, seed: 5 })).values).not.toEqual(values);
});
