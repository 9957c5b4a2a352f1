import { expect, test } from 'vitest';
import { InvalidFilterError } from '../../core/errors/errors.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import { RowTable } from './row-table.ts';

test('a filter looks at the rows once until the next write, for equal values of the variables that it reads', () => {
  let reads = 0;
  const table = new RowTable(1, 'l2');
  for (let place = 0; place < 7; place++) {
    const attributes = {
      get place() {
        reads++;
        return place;
      },
    };
    table.put({ id: `${place}`, vector: Float32Array.of(place), subject: { id: `${place}`, attributes } });
  }
  const filter = parseFilter('place < $query.most');
  const list = (most: number | null, asked: number) => [
    ...(table.listVisible({ filter, variables: { most, asked } }) as Int32Array),
  ];
  expect([list(2, 100), list(2, 200), list(null, 300), list(3, 300)]).toEqual([[0, 1], [0, 1], [], [0, 1, 2]]);
  expect(reads).toBe(3 * 7);
  expect(() => list(Number.NaN, 300)).toThrow(InvalidFilterError);
  table.delete('1');
  expect(list(2, 100)).toEqual([0]);
});
