import { expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError } from '../core/errors.ts';
import { addPresent, alignLists, assertColumns, assertWeights, rangeOf, rankFused } from './score-columns.ts';

const NONE = Number.NaN;

test('lays lists over their common candidates, ids descending by bytes', () => {
  const lists = [
    [
      { id: 'b', score: 5 },
      { id: 'd', score: 3 },
    ],
    [
      { id: 'a', score: 2 },
      { id: 'd', score: 7 },
      { id: '\u{1f600}', score: 1 },
      { id: '\uff5e', score: 0 },
    ],
    [],
  ];
  const { ids, columns } = alignLists(lists);
  expect(ids).toEqual(['\u{1f600}', '\uff5e', 'd', 'b', 'a']);
  expect(columns.map((column) => [...column])).toEqual([
    [NONE, NONE, 3, 5, NONE],
    [1, 0, 7, NONE, 2],
    [NONE, NONE, NONE, NONE, NONE],
  ]);
});

test('refuses lists that cannot be fused', () => {
  expect(() => alignLists([[], [{ id: 'a', score: NONE }]])).toThrow(
    new NotFiniteError('score', 'source 1, candidate a', NONE),
  );
  expect(() =>
    alignLists([
      [
        { id: 'a', score: 2 },
        { id: 'a', score: 1 },
      ],
    ]),
  ).toThrow('source 0 repeats a candidate: a');
});

test('refuses columns that cannot be fused', () => {
  expect(() => assertColumns([])).toThrow('fusion needs at least one source: 0');
  expect(() => assertColumns([Float64Array.of(1, 2), Float64Array.of(1)])).toThrow(
    new DimensionMismatchError('scores of source 1', 2, 1),
  );
  expect(() => assertColumns([Float64Array.of(1, Number.NEGATIVE_INFINITY)])).toThrow(
    new NotFiniteError('score', 'source 0, candidate 1', Number.NEGATIVE_INFINITY),
  );
  expect(() => assertColumns([Float64Array.of(1, NONE)])).not.toThrow();
});

test('refuses weights that do not fit the sources', () => {
  expect(() => assertWeights([1, 2], 3)).toThrow('fusion of 3 sources needs as many weights, got 2: 1, 2');
  expect(() => assertWeights([1, -2], 2)).toThrow('weight of a source must be finite and not negative: -2');
  expect(() => assertWeights([1, NONE], 2)).toThrow('weight of a source must be finite and not negative: NaN');
});

test('passes over absent scores', () => {
  const column = Float64Array.of(NONE, 3, -2, NONE, 5);
  expect(rangeOf(column)).toEqual({ low: -2, high: 5 });
  const sums = Float64Array.of(1, 1, 1, 1, 1);
  addPresent(sums, column, (score) => 10 * score);
  expect([...sums]).toEqual([1, 31, -19, 1, 51]);
});

test('ranks by score, then by id descending', () => {
  expect(rankFused(['c', 'b', 'a'], Float64Array.of(1, 2, 1)).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
});
