import { expect, test } from 'vitest';
import {
  assertFeatureTable,
  copySignalColumn,
  type FeatureTable,
  findSignalPositions,
  selectQueries,
} from './feature-table.ts';

const [Q, C, F] = [3, 5, 2];
const table: FeatureTable = {
  signals: ['bm25', 'cosine'],
  queryIds: ['x', 'y', 'z'],
  clusters: ['one', 'two', 'one'],
  width: C,
  values: Float32Array.from({ length: Q * C * F }, (_, i) => i),
  mask: Uint8Array.from({ length: Q * C }, (_, pair) => Number(pair % C < 4)),
  grades: Float32Array.from({ length: Q * C }, (_, pair) => pair % 3),
  missed: Int32Array.of(2, 0, 1),
  missedGrades: Float32Array.of(1, 3, 2),
  relevantGrade: 1,
};

test('a subset has the rows that were asked for, in that order, with what they missed', () => {
  assertFeatureTable(table);
  const part = selectQueries(table, [2, 0, 2]);
  assertFeatureTable(part);
  expect(part.queryIds).toEqual(['z', 'x', 'z']);
  expect(part.clusters).toEqual(['one', 'one', 'one']);
  expect([...part.values]).toEqual([
    ...table.values.slice(20),
    ...table.values.slice(0, 10),
    ...table.values.slice(20),
  ]);
  expect([...part.mask]).toEqual([1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0]);
  expect([...part.grades.slice(0, 6)]).toEqual([1, 2, 0, 1, 2, 0]);
  expect([...part.missed]).toEqual([1, 2, 1]);
  expect([...part.missedGrades]).toEqual([2, 1, 3, 2]);
  expect(() => selectQueries(table, [0, 3])).toThrow(
    'feature table of 3 queries has no row: 3; pass rows of the table',
  );
});

test('a column is one signal of every pair', () => {
  expect([...copySignalColumn(table, 'cosine')]).toEqual(Array.from({ length: Q * C }, (_, pair) => 2 * pair + 1));
  expect([...findSignalPositions(table, ['cosine', 'bm25'])]).toEqual([1, 0]);
  expect(() => copySignalColumn(table, 'cosin')).toThrow('unknown signal: cosin; use cosine');
  expect(() => copySignalColumn(table, 'length')).toThrow('unknown signal: length; use one of bm25, cosine');
});

test.each([
  [{ values: new Float32Array(7) }, 'values of the feature table: expected 30, got 7'],
  [{ mask: new Uint8Array(7) }, 'mask of the feature table: expected 15, got 7'],
  [{ grades: new Float32Array(7) }, 'grades of the feature table: expected 15, got 7'],
  [{ clusters: ['one'] }, 'clusters of the feature table: expected 3, got 1'],
  [{ missed: new Int32Array(2) }, 'missed of the feature table: expected 3, got 2'],
  [{ missedGrades: new Float32Array(2) }, 'missedGrades of the feature table: expected 3, got 2'],
  [{ signals: ['bm25', 'bm25'] }, 'feature table repeats a signal: bm25; list it once'],
  [{ width: 0 }, 'width is not an integer from 1: 0; pass the number of candidates of a query'],
  [{ relevantGrade: 0 }, 'lowest relevant grade is not positive: 0; pass a number above 0'],
  [{ values: table.values.with(17, Number.NaN) }, 'signal cosine is not finite at query y, candidate 3: NaN'],
] as const)('%j is refused', (change, message) => {
  expect(() => assertFeatureTable({ ...table, ...change })).toThrow(message);
});
