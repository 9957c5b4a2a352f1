import { expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { QueryRows } from './query-rows.ts';

const columns = new Map([
  ['a', 0],
  ['b', 1],
  ['a*b', 2],
]);

/** Two queries of three candidates, the second of which has one less. */
function fillTwoQueries(): Float32Array {
  const values = new Float32Array(2 * 3 * 3);
  const rows = new QueryRows({ values, columns }, 1, Int32Array.from([5, 7, -1]));
  rows.write('b', (position, place) => position + place / 10);
  rows.write('a', (position) => position);
  rows.multiply('a*b', ['a', 'b']);
  return values;
}

test('columns are filled in the rows of the query, and padding is left alone', () => {
  const none = [0, 0, 0];
  const expected = [...none, ...none, ...none, 5, 5, 25, 7, 7.1, 49.7, ...none];
  for (const [i, value] of fillTwoQueries().entries()) expect(value).toBeCloseTo(expected[i] as number, 5);
});

test('a column that the table lacks is refused', () => {
  const rows = new QueryRows({ values: new Float32Array(3), columns }, 0, Int32Array.from([1]));
  expect(() => rows.write('c', () => 1)).toThrow(
    new ValidationError('signal table has no column: c; name one of its columns', { name: 'c' }),
  );
});
