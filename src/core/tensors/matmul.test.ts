import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { TEST_BACKENDS } from './backends.harness.ts';
import { useBackendWithoutLeaks } from './leaks.harness.ts';
import { batchedMatmul, matmul, matmulTransposed, normaliseRows } from './matmul.ts';

const stream = createRandom(1, 'matmul.test');
const drawShapedValues = (...shape: number[]) =>
  Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => stream.drawNormal());

/** c[t][k] = sum_d a[t][d] b[d][k], in float64. */
function multiplyByDefinition(a: number[], b: number[], T: number, D: number, K: number): number[] {
  const c = new Array<number>(T * K).fill(0);
  for (let t = 0; t < T; t++)
    for (let k = 0; k < K; k++) for (let d = 0; d < D; d++) c[t * K + k]! += a[t * D + d]! * b[d * K + k]!;
  return c;
}

function transpose(a: number[], rows: number, columns: number): number[] {
  return Array.from({ length: rows * columns }, (_, i) => a[(i % rows) * columns + Math.floor(i / rows)] as number);
}

function expectClose(got: Float32Array | Int32Array | Uint8Array, expected: number[]): void {
  expect(got.length).toBe(expected.length);
  const worst = Math.max(...expected.map((value, i) => Math.abs(value - (got[i] as number)) - 1e-4 * Math.abs(value)));
  expect(worst).toBeLessThan(1e-5);
}

describe.each(TEST_BACKENDS)('%s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('plain, transposed and batched products agree with the sum of products', async () => {
    const [B, T, D, K] = [13, 5, 7, 11];
    const a = drawShapedValues(B, T, D);
    const b = drawShapedValues(B, D, K);
    const left = tf.tensor3d(a, [B, T, D]);
    const right = tf.tensor3d(b, [B, D, K]);
    const batched = batchedMatmul(left, right);
    const expected = Array.from({ length: B }, (_, i) =>
      multiplyByDefinition(a.slice(i * T * D, (i + 1) * T * D), b.slice(i * D * K, (i + 1) * D * K), T, D, K),
    );
    expectClose(await batched.data(), expected.flat());
    const firstLeft = tf.tensor2d(a.slice(0, T * D), [T, D]);
    const firstRight = tf.tensor2d(b.slice(0, D * K), [D, K]);
    const plain = matmul(firstLeft, firstRight);
    expectClose(await plain.data(), expected[0] as number[]);
    const rightRows = tf.tensor2d(transpose(b.slice(0, D * K), D, K), [K, D]);
    const transposed = matmulTransposed(firstLeft, rightRows);
    expectClose(await transposed.data(), expected[0] as number[]);
    tf.dispose([left, right, batched, firstLeft, firstRight, plain, rightRows, transposed]);
  });

  test('shapes that do not fit are named', () => {
    const a = tf.zeros<tf.Rank.R2>([3, 5]);
    const b = tf.zeros<tf.Rank.R2>([7, 2]);
    expect(() => matmul(a, b)).toThrow(DimensionMismatchError);
    expect(() => matmulTransposed(a, b)).toThrow(/shape of b/);
    tf.dispose([a, b]);
  });

  test('rows get length 1 and a zero row stays zero', async () => {
    const rows = tf.tensor2d([3, 4, 0, 0, -5, 12], [3, 2]);
    const unit = normaliseRows(rows);
    expectClose(await unit.data(), [0.6, 0.8, 0, 0, -5 / 13, 12 / 13]);
    tf.dispose([rows, unit]);
  });
});
