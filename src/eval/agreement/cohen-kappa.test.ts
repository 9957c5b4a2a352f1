import { expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { cohenKappa } from './cohen-kappa.ts';

test('a worked example: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no', () => {
  const items = [
    ['yes', 'yes', 20],
    ['yes', 'no', 5],
    ['no', 'yes', 10],
    ['no', 'no', 15],
  ] as const;
  const first = items.flatMap(([a, , count]) => new Array<string>(count).fill(a));
  const second = items.flatMap(([, b, count]) => new Array<string>(count).fill(b));
  expect(cohenKappa(first, second)).toBeCloseTo((0.7 - 0.5) / (1 - 0.5), 14);
});

test('is 1 for full and -1 for reversed agreement', () => {
  expect(cohenKappa([0, 1, 2, 0, 1], [0, 1, 2, 0, 1])).toBeCloseTo(1, 14);
  expect(cohenKappa([0, 1, 0, 1], [1, 0, 1, 0])).toBe(-1);
});

test('refuses judges of whom it cannot speak', () => {
  expect(() => cohenKappa([1, 2], [1])).toThrow(DimensionMismatchError);
  expect(() => cohenKappa([1, 1], [1, 1])).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'the judges of kappa use 1 different labels; pass labels with at least 2',
    }),
  );
  expect(() => cohenKappa([], [])).toThrow(ValidationError);
});
