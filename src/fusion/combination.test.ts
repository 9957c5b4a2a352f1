import { expect, test } from 'vitest';
import { combMnz, combSum } from './combination.ts';

const NONE = Number.NaN;
const columns = [Float64Array.of(2, NONE, 6, 3, NONE), Float64Array.of(NONE, -1, 1, 0, NONE)];

test('CombSUM adds min-max scores', () => {
  expect([...combSum(columns)]).toEqual([0, 0, 1 + 1, 1 / 4 + 1 / 2, 0]);
});

test('CombMNZ multiplies by the number of sources', () => {
  expect([...combMnz(columns)]).toEqual([0, 0, 4, 3 / 2, 0]);
});

test('a list with one distinct score normalises to 1, an empty one adds nothing', () => {
  const flat = [Float64Array.of(5, 5, NONE), Float64Array.of(NONE, NONE, -3), Float64Array.of(NONE, NONE, NONE)];
  expect([...combSum(flat)]).toEqual([1, 1, 1]);
  expect([...combMnz(flat)]).toEqual([1, 1, 1]);
});

test('scale and offset of a source do not matter', () => {
  const scaled = [(columns[0] as Float64Array).map((score) => 8 * score - 32), columns[1] as Float64Array];
  expect([...combSum(scaled)]).toEqual([...combSum(columns)]);
});
