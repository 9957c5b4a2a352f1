import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requirePackages } from '../required-packages.harness.ts';
import { compileKernel } from '../tensors/kernel-text.harness.ts';
import { countBytes, KernelRows } from './linear-kernel.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('linear-kernel.wat', import.meta.url));
  const source = readFileSync(new URL('linear-kernel.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

test('rows are zero, apart, and wide enough for the loops along them', () => {
  for (const width of [1, 4, 5, 61, 540]) {
    const rows = new KernelRows(3, width);
    expect(rows.width).toBeGreaterThanOrEqual(width);
    expect(countBytes(width)).toBeLessThanOrEqual(rows.stride);
    expect(rows.place(2, 3) - rows.place(1, 2)).toBe(rows.stride + 8);
    expect(rows.view(0, 3 * rows.width).every((value) => value === 0)).toBe(true);
    rows.view(1, rows.width).fill(7);
    expect([rows.view(0, rows.width).at(-1), rows.view(2, 1)[0]]).toEqual([0, 0]);
  }
});

/** Numbers of all sizes, so that another order of a sum has other bits. */
const drawRow = (row: Float64Array, seed: number) =>
  row.set(Float64Array.from(row, (_, i) => Math.sin(seed + i * i) * 10 ** ((i * 7) % 5)));

test.each([1, 2, 3, 4, 5, 7, 8, 11])('the sum of %d rows is taken from the left', (count) => {
  const width = 13;
  const rows = new KernelRows(count + 2, width);
  for (let r = 0; r < count + 2; r++) drawRow(rows.view(r, width), r);
  const [factors, sums] = [count, count + 1];
  const expected = rows.view(sums, width).slice();
  for (let r = 0; r < count; r++)
    for (let i = 0; i < width; i++) expected[i]! += rows.view(r, width)[i]! * rows.view(factors, width)[r]!;
  rows.kernel.addRows(rows.place(sums), rows.place(0), rows.stride, count, rows.place(factors), countBytes(width));
  expect(rows.view(sums, width)).toEqual(expected);
});
