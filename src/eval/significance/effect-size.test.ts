import { expect, test } from 'vitest';
import { cohenD } from './effect-size.ts';

test('divides the mean difference by the sample deviation', () => {
  expect(cohenD([1, 2, 3, 6])).toBeCloseTo(3 / Math.sqrt((4 + 1 + 0 + 9) / 3), 14);
  expect(cohenD([-1, -2, -3, -6])).toBe(-cohenD([1, 2, 3, 6]));
});

test('differences that do not vary have the limits', () => {
  expect(cohenD([0, 0])).toBe(0);
  expect(cohenD([-2, -2])).toBe(Number.NEGATIVE_INFINITY);
});
