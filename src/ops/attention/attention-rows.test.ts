import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import {
  type AttentionRows,
  checkRows,
  computeRowScales,
  copyUnitRows,
  listRowNumbers,
  splitIntoBlocks,
  viewRowsAt,
} from './attention-rows.ts';

const KEYS = Float32Array.of(3, 4, 0, 0, 5, 12, 0, 2, 8, 15);
const rows: AttentionRows = { turns: 5, queries: KEYS, keys: KEYS, values: Float32Array.of(1, 2, 3, 4, 5) };

describe('rows that fit', () => {
  test('every turn asks from its own position unless positions are given', () => {
    const checked = checkRows(rows);
    expect(checked).toMatchObject({ turns: 5, dimension: 2, valueWidth: 1, keys: KEYS });
    expect([...checked.order]).toEqual([0, 1, 2, 3, 4]);
    expect([...checked.ringPositions]).toEqual([0, 1, 2, 3, 4]);
    expect([...checked.keyScales]).toEqual([1 / 5, 0, 1 / 13, 1 / 2, 1 / 17]);
    expect(checked.queryScales).toBe(checked.keyScales);
  });

  test('queries come by position, those of one position as they stood', () => {
    const queries = Float32Array.of(0, 1, 0, 2, 0, 4, 0, 8);
    const checked = checkRows({ ...rows, queries, queryRingPositions: Int32Array.of(4, 1, 4, 0) });
    expect([...checked.order]).toEqual([3, 1, 0, 2]);
    expect([...checked.ringPositions]).toEqual([0, 1, 4, 4]);
    expect([...checked.queryScales]).toEqual([1, 1 / 2, 1 / 4, 1 / 8]);
  });

  test('no query at all', () => {
    const checked = checkRows({ ...rows, queries: new Float32Array(0), queryRingPositions: new Int32Array(0) });
    expect(checked).toMatchObject({ dimension: 2, valueWidth: 1 });
    expect(checked.order).toHaveLength(0);
  });
});

test.each([
  [ValidationError, 'number of turns is not a positive integer: 0', { turns: 0 }],
  [DimensionMismatchError, 'queries: expected 5 rows of one width, got 3 numbers', { queries: new Float32Array(3) }],
  [DimensionMismatchError, 'keys: expected 5 rows of 2, got 15 numbers', { keys: new Float32Array(15) }],
  [DimensionMismatchError, 'values: expected 5 rows of one width, got 7 numbers', { values: new Float32Array(7) }],
  [DimensionMismatchError, 'keyMask: expected 5, got 4', { keyMask: new Uint8Array(4) }],
  [DimensionMismatchError, 'mask: expected 25, got 5', { mask: new Uint8Array(5) }],
  [
    ValidationError,
    'position of query 3 is out of range: 5; pass a position in 0 … 4',
    { queryRingPositions: Int32Array.of(0, 1, 2, 5, 3) },
  ],
  [NotFiniteError, 'keys is not finite at row 1: NaN', { keys: Float32Array.from(KEYS).fill(Number.NaN, 3, 4) }],
  [NotFiniteError, 'values is not finite at row 4: Infinity', { values: Float32Array.of(0, 0, 0, 0, 1 / 0) }],
])('refuses with %o: %s', (type, message, changed) => {
  const checkChangedRows = () => checkRows({ ...rows, ...changed });
  expect(checkChangedRows).toThrow(type);
  expect(checkChangedRows).toThrow(message);
});

test('lengths of rows that float32 cannot square', () => {
  expect(computeRowScales('rows', Float32Array.of(3e30, 4e30, 0, 0), 2)[0]).toBeCloseTo(1 / 5e30, 36);
  expect(computeRowScales('rows', new Float32Array(0), 0)).toHaveLength(0);
});

test('blocks cover everything once', () => {
  expect(splitIntoBlocks(11, 4)).toEqual([
    { first: 0, count: 4 },
    { first: 4, count: 4 },
    { first: 8, count: 3 },
  ]);
  expect(splitIntoBlocks(0, 4)).toEqual([]);
});

test('positions wrap around at both ends', () => {
  expect([...listRowNumbers({ first: -3, count: 7 }, 5)]).toEqual([2, 3, 4, 0, 1, 2, 3]);
  expect([...viewRowsAt(KEYS, 5, { first: 4, count: 3 })]).toEqual([8, 15, 3, 4, 0, 0]);
  const inside = viewRowsAt(KEYS, 5, { first: 1, count: 2 });
  expect([...inside]).toEqual([0, 0, 5, 12]);
  expect(inside.buffer).toBe(KEYS.buffer);
});

test('unit rows are scaled copies of chosen rows, a zero row stays zero', () => {
  const units = copyUnitRows(KEYS, computeRowScales('keys', KEYS, 2), Int32Array.of(2, 1, 2, 0));
  expect([...units]).toEqual([5 / 13, 12 / 13, 0, 0, 5 / 13, 12 / 13, 3 / 5, 4 / 5].map(Math.fround));
  expect([...copyUnitRows(new Float32Array(0), new Float64Array(0), new Int32Array(0))]).toEqual([]);
});
