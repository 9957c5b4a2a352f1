import { expect, test } from 'vitest';
import { batchByLength } from './length-batches.ts';

const list = (lengths: readonly number[], batchSize: number) => [
  ...batchByLength(
    lengths.map((length) => ({ length })),
    batchSize,
  ),
];

test('a batch holds texts of one length, at most as many as it may', () => {
  expect(list([3, 1, 3, 3, 1, 7], 2)).toEqual([[1, 4], [0, 2], [3], [5]]);
  expect(list([3, 1, 3, 3, 1, 7], 5)).toEqual([[1, 4], [0, 2, 3], [5]]);
});

test('empty texts are in none', () => {
  expect(list([0, 2, 0], 3)).toEqual([[1]]);
  expect(list([0], 3)).toEqual([]);
  expect(list([], 3)).toEqual([]);
});
