import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { findVersionRows } from './cosine.ts';

/** Turn 0 in two versions, turn 1 in one that ends, turn 3 in one. */
const versions = {
  vectors: new Float32Array(0),
  positions: Int32Array.of(0, 1, 3, 0),
  validFrom: Int32Array.of(1, 2, 4, 5),
  validTo: Int32Array.of(5, 7, 99, 99),
  reach: 1,
};
const buildPoolRows = (width: number, ...positions: number[]) => ({
  queryCount: positions.length / width,
  width,
  positions: Int32Array.from(positions),
});

test('each place has the row that is valid at its query, from the first cutoff to before the last', () => {
  const rows = findVersionRows(versions, buildPoolRows(3, 0, -1, -1, 0, 1, 3, 1, 3, 0), Int32Array.of(1, 4, 5));
  expect([...rows]).toEqual([0, -1, -1, 0, 1, 2, 1, 2, 3]);
});

test.each([
  ['it has none', 2, 9],
  ['it has none yet', 1, 1],
  ['it has none any more', 1, 7],
])('a turn is refused where %s', (_, position, cutoff) => {
  const ask = () => findVersionRows(versions, buildPoolRows(1, position), Int32Array.of(cutoff));
  expect(ask).toThrow(ValidationError);
  expect(ask).toThrow(
    `turn at position ${position} has no propagated version at cutoff: ${cutoff}; pass the versions and the pool of one corpus`,
  );
});
