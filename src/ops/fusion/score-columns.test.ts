import { expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError } from '../../core/errors/errors.ts';
import {
  addPresent,
  alignLists,
  assertColumns,
  assertWeights,
  findScoreRange,
  rankFused,
  rankPresent,
} from './score-columns.ts';

const NONE = Number.NaN;

test('lays lists over their common candidates, ids descending by bytes', () => {
  const lists = {
    dense: [
      { id: 'b', score: 5 },
      { id: 'd', score: 3 },
    ],
    words: [
      { id: 'a', score: 2 },
      { id: 'd', score: 7 },
      { id: '\u{1f600}', score: 1 },
      { id: '\uff5e', score: 0 },
    ],
    empty: [],
  };
  const { ids, columns } = alignLists(lists);
  expect(ids).toEqual(['\u{1f600}', '\uff5e', 'd', 'b', 'a']);
  expect(columns).toEqual({
    dense: Float64Array.of(NONE, NONE, 3, 5, NONE),
    words: Float64Array.of(1, 0, 7, NONE, 2),
    empty: Float64Array.of(NONE, NONE, NONE, NONE, NONE),
  });
});

test('refuses lists that cannot be fused', () => {
  expect(() => alignLists({ a: [], b: [{ id: 'a', score: NONE }] })).toThrow(
    new NotFiniteError('score', 'source b, candidate a', NONE),
  );
  expect(() =>
    alignLists({
      words: [
        { id: 'a', score: 2 },
        { id: 'a', score: 1 },
      ],
    }),
  ).toThrow('source words repeats a candidate: a');
});

test('refuses columns that cannot be fused', () => {
  expect(() => assertColumns({})).toThrow('fusion has no source');
  expect(() => assertColumns({ a: Float64Array.of(1, 2), b: Float64Array.of(1) })).toThrow(
    new DimensionMismatchError('scores of source b', 2, 1),
  );
  expect(() => assertColumns({ a: Float64Array.of(1, Number.NEGATIVE_INFINITY) })).toThrow(
    new NotFiniteError('score', 'source a, candidate 1', Number.NEGATIVE_INFINITY),
  );
  expect(assertColumns({ a: Float64Array.of(1, NONE) })).toBe(2);
});

test('refuses weights that do not fit the sources', () => {
  const columns = { bm25: Float64Array.of(1), cosine: Float64Array.of(2) };
  expect(() => assertWeights({ bm25: 2 }, columns)).not.toThrow();
  expect(() => assertWeights({ cosin: 1 }, columns)).toThrow('weight of an unknown source: cosin; use cosine');
  expect(() => assertWeights({ x: 1 }, columns)).toThrow('weight of an unknown source: x; use one of bm25, cosine');
  expect(() => assertWeights({ bm25: -2 }, columns)).toThrow('weight of source bm25 is negative or not finite: -2');
  expect(() => assertWeights({ bm25: NONE }, columns)).toThrow('is negative or not finite: NaN');
});

test('passes over absent scores', () => {
  const column = Float64Array.of(NONE, 3, -2, NONE, 5);
  expect(findScoreRange(column)).toEqual({ low: -2, high: 5 });
  const sums = Float64Array.of(1, 1, 1, 1, 1);
  addPresent(sums, column, (score) => 10 * score);
  expect([...sums]).toEqual([1, 31, -19, 1, 51]);
});

test('ranks by score, then by id descending', () => {
  expect(rankFused(['c', 'b', 'a'], Float64Array.of(1, 2, 1)).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
  expect(() => rankFused(['b', 'a'], Float64Array.of(1, NONE))).toThrow(
    new NotFiniteError('fused score', 'candidate a', NONE),
  );
});

test('ranks present scores, the first place first among equal ones', () => {
  const column = Float64Array.of(0, NONE, 2, -0, -7, 2, Number.NEGATIVE_INFINITY, 2, NONE);
  expect([...rankPresent(column)]).toEqual([2, 5, 7, 0, 3, 4, 6]);
  expect(rankPresent(Float64Array.of(NONE))).toEqual(new Int32Array());
});
