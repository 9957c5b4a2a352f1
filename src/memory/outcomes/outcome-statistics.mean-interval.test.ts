import { expect, test } from 'vitest';
import { computeMeanInterval } from './outcome-statistics.ts';

test('is the interval of Student', () => {
  // With one degree of freedom Student's distribution is Cauchy's, whose quantile is tan(pi (p - 1/2)).
  const reach = 0.25 * Math.tan(0.475 * Math.PI);
  const [low, high] = computeMeanInterval(0.5, 0.0625, 2) as readonly [number, number];
  expect(low).toBeCloseTo(0.5 - reach, 12);
  expect(high).toBeCloseTo(0.5 + reach, 12);
});

test('one value has none, and a little more than one a finite one', () => {
  expect(computeMeanInterval(3, 0, 1)).toBeNull();
  expect(computeMeanInterval(3, 0, 0)).toBeNull();
  for (const more of [2 ** -52, 1e-9, 1e-3]) {
    const interval = computeMeanInterval(3, 2, 1 + more) as readonly [number, number];
    expect(interval.every(Number.isFinite)).toBe(true);
    expect(interval[1]).toBeGreaterThan(1e99);
  }
});

test('without spread is the mean', () => {
  expect(computeMeanInterval(3, 0, 7)).toEqual([3, 3]);
});
