import { expect, test } from 'vitest';
import { quantile } from './quantile.ts';

test('lies between two values in proportion', () => {
  // numpy 2.4: numpy.quantile([1, 3, 7, 13, 31], [0, 0.05, 0.5, 0.95, 1])
  const values = Float64Array.of(1, 3, 7, 13, 31);
  const expected = [1, 1.4, 7, 27.4, 31];
  for (const [i, share] of [0, 0.05, 0.5, 0.95, 1].entries())
    expect(quantile(values, share)).toBeCloseTo(expected[i] as number, 12);
});

test('of one value is that', () => {
  for (const share of [0, 0.37, 1]) expect(quantile(Float64Array.of(17), share)).toBe(17);
});
