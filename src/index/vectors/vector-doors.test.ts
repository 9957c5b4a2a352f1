import { expect, test } from 'vitest';
import { prepareRows } from './vector-doors.ts';

const rows = [Float32Array.of(0.6, 0.8, 0), Float32Array.of(3, 0, 4), new Float32Array(3)].map((vector, i) => ({
  ...{ id: `row ${i}`, vector },
}));
const [unit, long, zero] = rows.map(({ vector }) => vector) as [Float32Array, Float32Array, Float32Array];

test('vectors are copied, unless they never change and are compared as they are', () => {
  const prepare = (metric: 'cosine' | 'l2', isFixed: boolean) =>
    prepareRows(rows, 3, metric, isFixed).map(({ vector }) => vector);
  const prepared = [unit, Float32Array.of(3 / 5, 0, 4 / 5), null];
  for (const isFixed of [false, true]) {
    expect(prepare('cosine', isFixed)).toEqual(prepared);
    expect(prepare('l2', isFixed)).toEqual([unit, long, zero]);
  }
  const isSame = (metric: 'cosine' | 'l2', isFixed: boolean) =>
    prepare(metric, isFixed).map((vector, i) => vector === rows[i]!.vector);
  expect(isSame('cosine', false)).toEqual([false, false, false]);
  expect(isSame('cosine', true)).toEqual([true, false, false]);
  expect(isSame('l2', false)).toEqual([false, false, false]);
  expect(isSame('l2', true)).toEqual([true, true, true]);
  expect(long).toEqual(Float32Array.of(3, 0, 4));
});
