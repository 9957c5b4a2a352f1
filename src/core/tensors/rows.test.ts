import { expect, test } from 'vitest';
import { computeRowWidth, gatherRows, multiplyRows, spreadRows, viewRow } from './rows.ts';

const matrix = Float32Array.of(1, 2, 3, 4, 5, 6);

test('a row is a view, gathered rows are copies', () => {
  expect([...viewRow(matrix, 2, 1)]).toEqual([3, 4]);
  const gathered = gatherRows(matrix, 2, [2, 0, 2]);
  expect([...gathered]).toEqual([5, 6, 1, 2, 5, 6]);
  gathered[0] = 9;
  expect(matrix[4]).toBe(5);
  expect(viewRow(matrix, 2, 0).buffer).toBe(matrix.buffer);
});

test('spread rows are at their places, and zeros elsewhere', () => {
  expect([...spreadRows(matrix, 2, [1, 4, 3], 5)]).toEqual([0, 0, 1, 2, 0, 0, 5, 6, 3, 4]);
});

test('the width follows from the number of rows', () => {
  expect(computeRowWidth('embeddings', matrix, 3)).toBe(2);
  expect(computeRowWidth('embeddings', new Float32Array(0), 0)).toBe(0);
  expect(() => computeRowWidth('embeddings', matrix, 4)).toThrow(
    'embeddings: expected 4 rows of one width, got 6 numbers',
  );
});

test.each([1, 2, 3, 4, 7])('the product of two rows of width %d is the sum over all of them', (width) => {
  const a = Float32Array.from({ length: 3 * width }, (_, i) => i - 4);
  const b = Float32Array.from({ length: 5 * width }, (_, i) => 11 - i * i);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 5; j++) {
      let expected = 0;
      for (let d = 0; d < width; d++) expected += (i * width + d - 4) * (11 - (j * width + d) ** 2);
      expect(multiplyRows(a, i, b, j, width)).toBe(expected);
    }
  }
});
