import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { requirePackages } from '../required-packages.harness.ts';
import { compileKernel } from './kernel-text.harness.ts';
import { multiplyChosenRows, multiplyRows } from './rows.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('row-products.wat', import.meta.url));
  const source = readFileSync(new URL('rows.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

/** Numbers of all sizes, so that another order of the sum has other bits. */
function drawRows(count: number, width: number): Float32Array {
  const stream = createRandom(width, 'rows.row-products.test');
  return Float32Array.from({ length: count * width }, () => stream.drawNormal() * 10 ** stream.integer(7));
}

// Fewer numbers than the kernel takes, those left over by four, more rows than at once, few rows at once, one too long.
test.each([1, 15, 16, 17, 18, 19, 101, 384, 2003, 13_007, 30_011])('products of rows of %d numbers', (width) => {
  const [queries, matrix] = [drawRows(3, width), drawRows(23, width)];
  const source = createRandom(width, 'chosen');
  const rows = Int32Array.from({ length: 197 }, () => source.integer(24) - 1);
  const expected = Array.from(rows, (row) => (row < 0 ? 0 : multiplyRows(queries, 2, matrix, row, width)));
  expect([...multiplyChosenRows(queries, 2, matrix, rows, width)]).toEqual(expected);
  expect(rows).toContain(-1);
  expect(multiplyChosenRows(queries, 0, matrix, new Int32Array(0), width)).toHaveLength(0);
});
