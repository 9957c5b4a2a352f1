import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ConvergenceError, NotFiniteError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { useBackend } from '../tensors/backend.ts';
import { TEST_BACKENDS } from '../tensors/backends.harness.ts';
import { computeOrthonormalBasis } from './randomised-svd.ts';

const [N, K] = [101, 13];

/** Row-major [N, K] of standard normals. */
function drawNormalRows(): Float32Array {
  const stream = createRandom(3, 'basis');
  return Float32Array.from({ length: N * K }, () => stream.drawNormal());
}

function dot(a: Float32Array, i: number, b: Float32Array, j: number): number {
  let sum = 0;
  for (let row = 0; row < N; row++) sum += a[row * K + i]! * b[row * K + j]!;
  return sum;
}

/** How much of column j of y the basis does not hold, relative to its length. */
function measureResidual(y: Float32Array, j: number, basis: Float32Array): number {
  let rest = dot(y, j, y, j);
  for (let i = 0; i < K; i++) rest -= dot(y, j, basis, i) ** 2;
  return Math.sqrt(Math.max(rest, 0) / dot(y, j, y, j));
}

describe.each(TEST_BACKENDS)('orthonormal basis on %s', (backend) => {
  beforeAll(async () => void (await useBackend(backend)));

  test.each([
    ['well conditioned', 1],
    ['columns over six powers of ten', 10 ** -0.5],
  ])('is orthonormal and holds the columns: %s', async (_, ratio) => {
    const y = drawNormalRows().map((value, i) => value * ratio ** (i % K));
    const basis = await computeOrthonormalBasis(y, K);
    for (let i = 0; i < K; i++) {
      for (let j = 0; j < K; j++) expect(Math.abs(dot(basis, i, basis, j) - (i === j ? 1 : 0))).toBeLessThan(2e-4);
      expect(measureResidual(y, i, basis)).toBeLessThan(0.02);
    }
  });

  test('dependent columns become other directions, a zero column stays zero', async () => {
    const y = drawNormalRows();
    for (let row = 0; row < N; row++) {
      y[row * K + 5] = y[row * K + 2]! - 3 * y[row * K]!;
      y[row * K + 7] = 0;
    }
    const basis = await computeOrthonormalBasis(y, K);
    for (let i = 0; i < K; i++) {
      for (let j = 0; j < K; j++) {
        const expected = i === j && i !== 7 ? 1 : 0;
        expect(Math.abs(dot(basis, i, basis, j) - expected)).toBeLessThan(2e-4);
      }
      if (i !== 7) expect(measureResidual(y, i, basis)).toBeLessThan(0.02);
    }
  });

  test('where rows are empty or repeat others, the columns that find no direction become zero', async () => {
    const [rows, width] = [97, 89];
    const stream = createRandom(5, 'deficient');
    const y = Float32Array.from({ length: rows * width }, () => stream.drawNormal());
    y.fill(0, 0, 7 * width); // 7 empty rows
    for (let row = 7; row < 24; row++) y.copyWithin(row * width, (row + 31) * width, (row + 32) * width); // 17 repeat others
    const basis = await computeOrthonormalBasis(y, width, 8);
    const readBasisColumn = (i: number) => Float64Array.from({ length: rows }, (_, row) => basis[row * width + i]!);
    const lengths = Array.from({ length: width }, (_, i) => Math.hypot(...readBasisColumn(i)));
    expect(lengths.filter((length) => length === 0)).toHaveLength(width - (rows - 7 - 17));
    expect(lengths.every((length) => length === 0 || Math.abs(length - 1) < 2e-4)).toBe(true);
    for (let j = 0; j < width; j += 19) {
      const target = Float64Array.from({ length: rows }, (_, row) => y[row * width + j]!);
      let rest = target.reduce((sum, value) => sum + value ** 2, 0);
      const whole = rest;
      for (let i = 0; i < width; i++)
        rest -= readBasisColumn(i).reduce((sum, value, row) => sum + value * target[row]!, 0) ** 2;
      expect(Math.sqrt(Math.max(rest, 0) / whole)).toBeLessThan(0.02);
    }
  });

  test('columns that are not orthonormal after the last pass are an error, and no tensor is left', async () => {
    const before = tf.memory().numTensors;
    const y = drawNormalRows().map((value, i) => value * 10 ** (-0.5 * (i % K)));
    const failing = computeOrthonormalBasis(y, K, 1);
    await expect(failing).rejects.toThrow(ConvergenceError);
    await expect(failing).rejects.toThrow(
      /^orthonormal basis did not converge to 0.0001 within 1 iterations, residual: /,
    );
    expect(await computeOrthonormalBasis(await computeOrthonormalBasis(y, K), K, 0)).toHaveLength(N * K);
    expect(tf.memory().numTensors).toBe(before);
  });

  test('a column that is not finite is an error, and no tensor is left', async () => {
    const before = tf.memory().numTensors;
    await expect(computeOrthonormalBasis(drawNormalRows().fill(Number.NaN, 40, 41), K)).rejects.toThrow(NotFiniteError);
    await computeOrthonormalBasis(drawNormalRows(), K);
    expect(tf.memory().numTensors).toBe(before);
  });
});
