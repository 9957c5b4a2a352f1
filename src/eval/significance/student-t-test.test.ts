import { expect, test } from 'vitest';
import { pairedTTest } from './student-t-test.ts';

// scipy 1.17.1: ttest_1samp(differences, 0) and its confidence_interval(0.9)
const differences = [0.12, -0.31, 0.44, 0.27, -0.05, 0.61, 0.33, -0.18, 0.09, 0.52, 0.4];

test('agrees with scipy', () => {
  const { t, p, degreesOfFreedom, interval } = pairedTTest(differences, 0.9);
  expect(t).toBeCloseTo(2.2828873854396297, 12);
  expect(p).toBeCloseTo(0.04556148979350988, 12);
  expect(degreesOfFreedom).toBe(10);
  expect(interval[0]).toBeCloseTo(0.041962601436931285, 12);
  expect(interval[1]).toBeCloseTo(0.3653101258357959, 12);
});

test('differences that do not vary have the limits', () => {
  expect(pairedTTest([0, 0, 0])).toMatchObject({ t: 0, p: 1, interval: [0, 0] });
  expect(pairedTTest([0.5, 0.5, 0.5])).toMatchObject({ t: Number.POSITIVE_INFINITY, p: 0, interval: [0.5, 0.5] });
});
