import { expect, test } from 'vitest';
import { parse } from '../../core/validation/validation.ts';
import {
  allocateResult,
  assertUsable,
  boundError,
  hostPageRankOptions,
  pushPageRankOptions,
  tensorPageRankOptions,
} from './pagerank-solver.ts';

test.each([0, 0.5, 0.85, 0.97])('the bound is the sum of all changes to come, each %d times the last', (damping) => {
  let [change, sum] = [0.013, 0];
  for (let iteration = 0; iteration < 3000; iteration++) {
    change *= damping;
    sum += change;
  }
  expect(Math.abs(boundError(0.013, damping) - sum)).toBeLessThan(1e-14);
});

test('a result begins with no score, no iteration and no error, a row a query', () => {
  const { scores, iterations, errorBounds } = allocateResult(3, 7);
  expect(scores).toEqual(new Float64Array(21));
  expect([iterations, errorBounds]).toEqual([new Float64Array(3), new Float64Array(3)]);
});

test('what is left out of the options takes its default, a tolerance by what the numbers can tell', () => {
  const parseDefaults = (schema: typeof hostPageRankOptions) => parse(schema, {}, 'options');
  expect(parseDefaults(hostPageRankOptions)).toEqual({ damping: 0.5, maxIterations: 100, tolerance: 1e-10 });
  expect(parseDefaults(tensorPageRankOptions)).toEqual({ damping: 0.5, maxIterations: 100, tolerance: 1e-6 });
  expect(parseDefaults(pushPageRankOptions)).toEqual({ damping: 0.5, maxIterations: 100, tolerance: 1e-6 });
});

test('what a solver holds is given out until it is disposed', () => {
  const held = { matrix: 0 };
  expect(assertUsable('host', held)).toBe(held);
  expect(assertUsable('host', 0)).toBe(0);
  expect(() => assertUsable('host', null)).toThrow(/^solver was disposed: host; /);
});
