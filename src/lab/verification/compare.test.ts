import { expect, test } from 'vitest';
import { measureDeviation } from './compare.ts';
import { HOST, PRINTED, TENSOR, type Tolerance } from './topic.ts';

const compare = (expected: unknown, got: unknown, tolerance: Tolerance = TENSOR) =>
  measureDeviation({ at: 'x', expected, got, tolerance });

test('numbers pass within absolute plus relative tolerance, and tell how far they are', () => {
  expect(compare(10, 10.001)).toEqual({
    absolute: expect.closeTo(0.001, 9),
    relative: expect.closeTo(1e-4, 9),
    failure: null,
  });
  expect(compare(10, 10.002).failure).toBe('x: expected 10, got 10.002');
  expect(compare(0, 9e-6).failure).toBeNull();
  expect(compare(1, 1 + 1e-8, HOST).failure).not.toBeNull();
});

test('what is printed to four digits passes within the last of them, however large it is', () => {
  for (const value of [0, 0.5, 1000]) {
    expect(compare(value, value + 0.9e-4, PRINTED).failure).toBeNull();
    expect(compare(value, value - 1.1e-4, PRINTED).failure).not.toBeNull();
  }
});

test.each([
  ['NaN', [1], [Number.NaN]],
  ['infinity', [1], [Number.POSITIVE_INFINITY]],
  ['another length', [1, 2], [1]],
  ['another order of ids', ['a', 'b'], ['b', 'a']],
  ['a missing key', { a: 1, b: 2 }, { a: 1 }],
  ['a key too many', { a: 1 }, { a: 1, b: 2 }],
  ['a number for a text', 'a', 1],
  ['nothing', { a: 1 }, undefined],
  ['null for a number', 1, null],
])('%s fails', (_, expected, got) => expect(compare(expected, got).failure).not.toBeNull());

test('the worst deviation of nested values is kept, and the first failure is named by its place', () => {
  const deviation = compare(
    {
      rows: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      rows: [
        [1, 2.5],
        [3, 4.75],
      ],
    },
  );
  expect(deviation.absolute).toBe(0.75);
  expect(deviation.failure).toBe('x.rows[0][1]: expected 2, got 2.5');
});
