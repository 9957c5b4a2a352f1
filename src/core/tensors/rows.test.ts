import { expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { computeRowWidth, findFirstRows, gatherRows, multiplyRows, spreadRows, viewRow } from './rows.ts';

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

test.each([0, 1, 2, 1009])('the first of %d rows that is equal to each', (count) => {
  const source = createRandom(count, 'rows.test/equal');
  const [a, b] = [23, 7].map((most) => Int32Array.from({ length: count }, () => source.integer(most) - 1)) as [
    Int32Array,
    Int32Array,
  ];
  const expected = Array.from(a, (_, row) => a.findIndex((number, other) => number === a[row] && b[other] === b[row]));
  expect([...findFirstRows(a, b)]).toEqual(expected);
});
