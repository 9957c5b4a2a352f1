import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { requirePackages } from '../required-packages.harness.ts';
import { compileKernel } from './kernel-text.harness.ts';
import { multiplyChosenRows } from './row-products.ts';
import { multiplyRows } from './rows.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('row-products.wat', import.meta.url));
  const source = readFileSync(new URL('row-products.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

/** Numbers of all sizes, so that another order of the sum has other bits. */
function drawRows(count: number, width: number): Float32Array {
  const stream = createRandom(width, 'row-products.test');
  return Float32Array.from({ length: count * width }, () => stream.drawNormal() * 10 ** stream.integer(7));
}

// Fewer numbers than the kernel takes, those left over by four, few rows at once, one too long.
test.each([1, 15, 16, 17, 18, 19, 101, 384, 2003, 13_007, 70_001])('products of rows of %d numbers', (width) => {
  const [queries, matrix] = [drawRows(3, width), drawRows(23, width)];
  const source = createRandom(width, 'chosen');
  const chosen = Int32Array.from({ length: 3 * 197 }, () => source.integer(24) - 1);
  const expected = Array.from(chosen, (row, pair) =>
    row < 0 ? 0 : multiplyRows(queries, Math.floor(pair / 197), matrix, row, width),
  );
  expect([...multiplyChosenRows(queries, matrix, chosen, width)]).toEqual(expected);
  expect(chosen).toContain(-1);
});

// More rows of both matrices, and more pairs, than are multiplied at once.
test.each([1, 2, 7])('products of many rows with %d each', (columns) => {
  const [queries, matrix] = [drawRows(131, 17), drawRows(997, 17)];
  const source = createRandom(columns, 'many');
  const chosen = Int32Array.from({ length: 131 * columns }, () => source.integer(998) - 1);
  const expected = Array.from(chosen, (row, pair) =>
    row < 0 ? 0 : multiplyRows(queries, Math.floor(pair / columns), matrix, row, 17),
  );
  expect([...multiplyChosenRows(queries, matrix, chosen, 17)]).toEqual(expected);
});

test('no products', () => {
  expect(multiplyChosenRows(drawRows(2, 17), drawRows(3, 17), new Int32Array(0), 17)).toHaveLength(0);
  expect(multiplyChosenRows(new Float32Array(0), drawRows(3, 17), new Int32Array(0), 17)).toHaveLength(0);
  expect([...multiplyChosenRows(drawRows(2, 17), drawRows(3, 17), Int32Array.of(-1, -1), 17)]).toEqual([0, 0]);
});
