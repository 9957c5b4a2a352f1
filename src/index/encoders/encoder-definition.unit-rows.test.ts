import { expect, test } from 'vitest';
import { scaleRowsToUnit, truncateRows } from './encoder-definition.ts';

test('rows become of length 1, and zero rows stay', () => {
  const rows = Float32Array.of(3, 4, 0, 0, 0, 0, -2, 0, 0);
  scaleRowsToUnit(rows, 3);
  expect(rows).toEqual(Float32Array.of(0.6, 0.8, 0, 0, 0, 0, -1, 0, 0));
});

test('squares beyond the range of float32 do not overflow', () => {
  const rows = Float32Array.of(3e30, 4e30);
  scaleRowsToUnit(rows, 2);
  expect([...rows].map((value) => Number(value.toFixed(6)))).toEqual([0.6, 0.8]);
});

test('rows within the tolerance keep their bits', () => {
  const near = Float32Array.of(0.6, 0.8000001);
  const kept = near.slice();
  scaleRowsToUnit(kept, 2, 1e-6);
  expect(kept).toEqual(near);
  scaleRowsToUnit(kept, 2);
  expect(kept).not.toEqual(near);
});

test('the first components of each row are kept', () => {
  const rows = Float32Array.of(1, 2, 3, 5, 7, 11);
  expect(truncateRows(rows, 3, 2)).toEqual(Float32Array.of(1, 2, 5, 7));
  expect(truncateRows(rows, 3, 3)).toEqual(rows);
});
