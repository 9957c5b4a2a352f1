import { expect, test } from 'vitest';
import { combMnz, combSum } from './combination.ts';
import { fuseColumns, parseFusion } from './registry.ts';

const NONE = Number.NaN;
const a = Float64Array.of(2, NONE, 6, 3, NONE);
const b = Float64Array.of(NONE, -1, 1, 0, NONE);
const columns = { a, b };

test('CombSUM adds min-max scores', () => {
  expect([...combSum(columns)]).toEqual([0, 0, 1 + 1, 1 / 4 + 1 / 2, 0]);
});

test('CombMNZ multiplies by the number of sources', () => {
  expect([...combMnz(columns)]).toEqual([0, 0, 4, 3 / 2, 0]);
});

test('a list with one distinct score normalises to 1, an empty one adds nothing', () => {
  const flat = {
    a: Float64Array.of(5, 5, NONE),
    b: Float64Array.of(NONE, NONE, -3),
    c: Float64Array.of(NONE, NONE, NONE),
  };
  expect([...combSum(flat)]).toEqual([1, 1, 1]);
  expect([...combMnz(flat)]).toEqual([1, 1, 1]);
});

test('scale and offset of a source do not matter', () => {
  const scaled = { a: a.map((score) => 8 * score - 32), b };
  expect([...combSum(scaled)]).toEqual([...combSum(columns)]);
});

test('the median of two scores is their mean, and CombANZ divides by the sources that hold the candidate', () => {
  const columns = {
    a: Float64Array.of(4, 1, Number.NaN),
    b: Float64Array.of(2, Number.NaN, 7),
    c: Float64Array.of(9, 3, Number.NaN),
  };
  const fuse = (method: string) => [...fuseColumns(columns, parseFusion({ method, normalisation: 'none' }, 'test'))];
  expect(fuse('combmed')).toEqual([4, 2, 7]);
  expect(fuse('combanz')).toEqual([5, 2, 7]);
  expect(fuse('combmax')).toEqual([9, 3, 7]);
  expect(fuse('combmin')).toEqual([2, 1, 7]);
  expect(fuse('combgmnz')).toEqual(fuse('combmnz'));
});
