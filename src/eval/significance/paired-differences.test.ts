import { expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError } from '../../core/errors/errors.ts';
import { cohenD, computeMoments, computePairedDifferences } from './paired-differences.ts';

test('a difference is treatment minus baseline', () => {
  expect([...computePairedDifferences([5, 1, 4], [3, 2, 4])]).toEqual([2, -1, 0]);
  expect(() => computePairedDifferences([1], [1, 2])).toThrow(new DimensionMismatchError('paired values', 2, 1));
});

test('mean and sample deviation', () => {
  const { count, mean, deviation } = computeMoments([2, 4, 4, 4, 5, 5, 7, 9]);
  expect([count, mean]).toEqual([8, 5]);
  expect(deviation).toBeCloseTo(Math.sqrt(32 / 7), 14);
});

test('a constant difference has no deviation, whatever its last digit', () => {
  expect(computeMoments([0.1 + 0.2, 0.3, -0.1 - 0.2 + 0.6]).deviation).toBe(0);
  expect(computeMoments([0.3, 0.3 + 1e-9, 0.3]).deviation).toBeGreaterThan(1e-10);
});

test('needs two finite values', () => {
  expect(() => computeMoments([3])).toThrow(
    expect.objectContaining({ name: 'ValidationError', message: 'paired test of 1 differences; pass at least 2' }),
  );
  expect(() => computeMoments([3, Number.NaN])).toThrow(new NotFiniteError('difference', 'query 1', Number.NaN));
});

test('divides the mean difference by the sample deviation', () => {
  expect(cohenD([1, 2, 3, 6])).toBeCloseTo(3 / Math.sqrt((4 + 1 + 0 + 9) / 3), 14);
  expect(cohenD([-1, -2, -3, -6])).toBe(-cohenD([1, 2, 3, 6]));
});

test('differences that do not vary have the limits', () => {
  expect(cohenD([0, 0])).toBe(0);
  expect(cohenD([-2, -2])).toBe(Number.NEGATIVE_INFINITY);
});
