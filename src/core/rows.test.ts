import { expect, test } from 'vitest';
import { gatherRows, rowOf, rowWidth } from './rows.ts';

const matrix = Float32Array.of(1, 2, 3, 4, 5, 6);

test('a row is a view, gathered rows are copies', () => {
  expect([...rowOf(matrix, 2, 1)]).toEqual([3, 4]);
  const gathered = gatherRows(matrix, 2, [2, 0, 2]);
  expect([...gathered]).toEqual([5, 6, 1, 2, 5, 6]);
  gathered[0] = 9;
  expect(matrix[4]).toBe(5);
  expect(rowOf(matrix, 2, 0).buffer).toBe(matrix.buffer);
});

test('the width follows from the number of rows', () => {
  expect(rowWidth('embeddings', matrix, 3)).toBe(2);
  expect(rowWidth('embeddings', new Float32Array(0), 0)).toBe(0);
  expect(() => rowWidth('embeddings', matrix, 4)).toThrow('embeddings: expected 4 rows of one width, got 6 numbers');
});
