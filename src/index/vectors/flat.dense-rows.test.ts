import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import {
  assertDenseRows,
  buildUnchangingRows,
  createRowFinder,
  type DenseRows,
  FOREVER,
  listNonZeroRows,
} from './flat.ts';

const IDS = ['a', 'b', 'c'];

/** Turn b has two versions, one after the other, and its rows stand last first; turn a has none. */
const VERSIONS: DenseRows = {
  dimension: 2,
  vectors: Float32Array.of(0, 1, 0.6, 0.8, 1, 0),
  positions: Int32Array.of(1, 2, 1),
  validFrom: Int32Array.of(5, 3, 2),
  validTo: Int32Array.of(FOREVER, FOREVER, 5),
};

test('a turn that does not change has one row, from the cutoff after it on', () => {
  const vectors = Float32Array.of(1, 0, 0, 1, 0.6, 0.8);
  const rows = buildUnchangingRows(vectors, 2);
  expect(rows.vectors).toBe(vectors);
  expect([...rows.positions, ...rows.validFrom]).toEqual([0, 1, 2, 1, 2, 3]);
  expect([...rows.validTo]).toEqual(Array(3).fill(2 ** 31 - 1));
  expect(() => assertDenseRows(rows, IDS)).not.toThrow();
});

test('rows with a direction are those with any number but 0', () => {
  expect([...listNonZeroRows(buildUnchangingRows(Float32Array.of(0, 0, 0, -1, 0, 0, 1, 0), 2))]).toEqual([1, 3]);
});

describe('rows are accepted', () => {
  test.each<[string, Partial<DenseRows>]>([
    ['where one version begins as another ends', {}],
    ['where there is a gap between them', { validTo: VERSIONS.validTo.with(2, 3) }],
    ['where one has no direction', { vectors: Float32Array.of(0, 1, 0, 0, 1, 0) }],
  ])('%s', (_, change) => {
    expect(() => assertDenseRows({ ...VERSIONS, ...change }, IDS)).not.toThrow();
  });
});

describe('rows are refused', () => {
  test.each<
    [Partial<DenseRows>, typeof ValidationError | typeof NotFiniteError | typeof DimensionMismatchError, string]
  >([
    [{ validFrom: Int32Array.of(5, 3) }, DimensionMismatchError, 'rows of validFrom: expected 3, got 2'],
    [{ validTo: Int32Array.of(5) }, DimensionMismatchError, 'rows of validTo: expected 3, got 1'],
    [{ vectors: new Float32Array(8) }, DimensionMismatchError, 'rows of vectors: expected 3, got 4'],
    [{ vectors: VERSIONS.vectors.with(3, Number.NaN) }, NotFiniteError, 'vector is not finite at turn c: NaN'],
    [{ vectors: VERSIONS.vectors.with(1, 2) }, ValidationError, 'vector of turn b has length 2'],
    [{ positions: VERSIONS.positions.with(1, 3) }, ValidationError, 'row 1 has a turn outside the corpus of 3: 3'],
    [{ positions: VERSIONS.positions.with(1, -1) }, ValidationError, 'row 1 has a turn outside the corpus of 3: -1'],
    [
      { validFrom: VERSIONS.validFrom.with(1, 2) },
      ValidationError,
      'row 1 of turn c is valid before the turn exists: 2',
    ],
    [{ validTo: VERSIONS.validTo.with(2, 6) }, ValidationError, 'two rows are valid at the same time for turn: b'],
    [{ positions: VERSIONS.positions.with(1, 1) }, ValidationError, 'two rows are valid at the same time for turn: b'],
  ])('%o', (change, error, message) => {
    const check = () => assertDenseRows({ ...VERSIONS, ...change }, IDS);
    expect(check).toThrow(error);
    expect(check).toThrow(message);
  });
});

test('the rows of a turn are found by its position, and a turn without rows has none', () => {
  const rowsOf = createRowFinder({ positions: Int32Array.of(3, 1, 3) });
  expect([0, 1, 2, 3, 4, 96].map((position) => [...rowsOf(position)])).toEqual([[], [1], [], [0, 2], [], []]);
});
