import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { requirePackages } from '../required-packages.harness.ts';
import { compileKernel } from '../tensors/kernel-text.harness.ts';
import { drawSparseMatrix } from './sparse-matrix.fixture.ts';
import { multiplySparseByDense, transpose } from './sparse-matrix.ts';
import { multiplyInTurn } from './sparse-product.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('sparse-product.wat', import.meta.url));
  const source = readFileSync(new URL('sparse-product.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

/** Numbers of all sizes, so that another order of a sum has other bits. */
function drawDense(rows: number, width: number): Float32Array {
  const stream = createRandom(width, 'sparse-product.test');
  return Float32Array.from({ length: rows * width }, () => stream.drawNormal() * 10 ** stream.integer(5));
}

// Fewer columns than the kernel takes, some left over by four, as many as at once, and in two and three parts.
describe.each([1, 4, 5, 19, 128, 131, 257])('a product of %d columns', (width) => {
  // More rows than are multiplied at once, both ways.
  const [rows, columns] = [151, 73];
  const a = drawSparseMatrix(rows, columns).sparse;

  test('has the bits of the product by rows', async () => {
    const dense = drawDense(columns, width);
    const before = dense.slice();
    expect(await multiplyInTurn([a], dense, width)).toEqual(multiplySparseByDense(a, dense, width));
    expect(dense).toEqual(before);
  });

  test('with one matrix after the other has the bits of the products by rows', async () => {
    const dense = drawDense(rows, width);
    const transposed = transpose(a);
    const expected = multiplySparseByDense(a, multiplySparseByDense(transposed, dense, width), width);
    expect(expected.some((value) => value !== 0)).toBe(true);
    expect(await multiplyInTurn([transposed, a], dense, width)).toEqual(expected);
  });
});

test('a matrix without entries has a product of zeros', async () => {
  const empty = {
    rows: 3,
    columns: 5,
    offsets: new Int32Array(4),
    columnOf: new Int32Array(),
    values: new Float64Array(),
  };
  expect(await multiplyInTurn([empty], drawDense(5, 7), 7)).toEqual(new Float32Array(3 * 7));
});

test('a product whose columns need more memory than is allowed computes fewer at a time, with the same bits', async () => {
  const { Memory } = WebAssembly;
  const pages: number[] = [];
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      pages.push(descriptor.initial);
    }
  };
  try {
    const { sparse } = drawSparseMatrix(1511, 731);
    const dense = drawDense(731, 61);
    const product = await multiplyInTurn([sparse], dense, 61, 1);
    expect(product).toEqual(await multiplyInTurn([sparse], dense, 61));
    const [few, many] = pages as [number, number];
    expect(many - few).toBe(Math.round(((1511 + 731) * 4 * (64 - 4)) / 2 ** 16));
  } finally {
    WebAssembly.Memory = Memory;
  }
});

test('a long product lets events in', async () => {
  const { sparse } = drawSparseMatrix(19_997, 31);
  let rang = false;
  setTimeout(() => {
    rang = true;
  }, 0);
  await multiplyInTurn([sparse], new Float32Array(31 * 2003).fill(1), 2003);
  expect(rang).toBe(true);
});
