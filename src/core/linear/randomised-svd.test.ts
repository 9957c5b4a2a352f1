import * as tf from '@tensorflow/tfjs-core';
import { Matrix, SVD } from 'ml-matrix';
import { beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { useBackend } from '../tensors/backend.ts';
import { TEST_BACKENDS } from '../tensors/backends.harness.ts';
import { randomisedSvd } from './randomised-svd.ts';
import type { SparseMatrix } from './sparse-matrix.ts';

const [ROWS, COLUMNS] = [61, 83];
const OPTIONS = { rank: 11, oversampling: 13, powerIterations: 3, seed: 5 };

function buildSparseMatrix(full: Matrix): SparseMatrix {
  const offsets = [0];
  const columnOf: number[] = [];
  const values: number[] = [];
  for (let row = 0; row < full.rows; row++) {
    for (let column = 0; column < full.columns; column++) {
      if (full.get(row, column) === 0) continue;
      columnOf.push(column);
      values.push(full.get(row, column));
    }
    offsets.push(values.length);
  }
  return {
    rows: full.rows,
    columns: full.columns,
    offsets: Int32Array.from(offsets),
    columnOf: Int32Array.from(columnOf),
    values: Float64Array.from(values),
  };
}

/** One entry in five, like counts of words: few columns are common, most are rare. */
function drawCountMatrix(): Matrix {
  const stream = createRandom(29, 'counts');
  const full = Matrix.zeros(ROWS, COLUMNS);
  for (let row = 0; row < ROWS; row++) {
    for (let i = 0; i < COLUMNS / 5; i++)
      full.set(row, Math.floor(COLUMNS * stream.uniform() ** 2), 1 + stream.integer(3));
  }
  return full;
}

/** A product of two thin normal matrices. */
function drawMatrixOfRank(rank: number): Matrix {
  const stream = createRandom(31, 'low rank');
  const drawNormalMatrix = (rows: number, columns: number) =>
    new Matrix(Array.from({ length: rows }, () => Array.from({ length: columns }, () => stream.drawNormal())));
  return drawNormalMatrix(ROWS, rank).mmul(drawNormalMatrix(rank, COLUMNS));
}

describe.each(TEST_BACKENDS)('randomised SVD on %s', (backend) => {
  beforeAll(async () => void (await useBackend(backend)));

  test('finds the singular values and the right subspace of the full decomposition', async () => {
    const full = drawCountMatrix();
    const oracle = new SVD(full, { autoTranspose: true });
    const { rank, singularValues, right } = await randomisedSvd(buildSparseMatrix(full), OPTIONS);
    expect(rank).toBe(OPTIONS.rank);
    for (const [i, value] of singularValues.entries())
      expect(Math.abs(value / oracle.diagonal[i]! - 1)).toBeLessThan(2e-3);
    const found = new Matrix(
      Array.from({ length: COLUMNS }, (_, row) => [...right.subarray(row * rank, (row + 1) * rank)]),
    );
    const gram = found.transpose().mmul(found);
    expect(Matrix.sub(gram, Matrix.eye(rank)).norm('frobenius')).toBeLessThan(0.02);
    for (let i = 0; i < rank; i++) {
      const column = found.getColumn(i);
      expect(Math.max(...column)).toBe(Math.max(...column.map(Math.abs)));
    }
    // The leading directions are well apart, so each vector is determined up to its sign.
    for (let i = 0; i < 3; i++) {
      const cosine = found.getColumnVector(i).dot(oracle.rightSingularVectors.getColumnVector(i));
      expect(Math.abs(cosine)).toBeGreaterThan(0.9999);
    }
    // No subspace of this rank loses less than the discarded singular values; ours loses at most 1 % more.
    const projected = full.mmul(found).mmul(found.transpose());
    const lost = oracle.diagonal.slice(rank).reduce((sum, value) => sum + value ** 2, 0);
    expect(Matrix.sub(full, projected).norm('frobenius')).toBeLessThan(1.01 * Math.sqrt(lost));
  });

  test('says how many directions a matrix of low rank has, and rebuilds it from them', async () => {
    const full = drawMatrixOfRank(7);
    const { rank, right } = await randomisedSvd(buildSparseMatrix(full), OPTIONS);
    expect(rank).toBe(7);
    const v = new Matrix(
      Array.from({ length: COLUMNS }, (_, row) => [...right.subarray(row * rank, (row + 1) * rank)]),
    );
    const error = Matrix.sub(full, full.mmul(v).mmul(v.transpose())).norm('frobenius');
    expect(error / full.norm('frobenius')).toBeLessThan(1e-3);
  });

  test.each([
    ['zeros', Matrix.zeros(3, 5)],
    ['numbers whose squares are 0 in float32', Matrix.eye(3, 5).mul(1e-30)],
  ])('a matrix of %s has rank 0 and is refused', async (_, matrix) => {
    const before = tf.memory().numTensors;
    await expect(randomisedSvd(buildSparseMatrix(matrix), OPTIONS)).rejects.toThrow(ValidationError);
    await expect(randomisedSvd(buildSparseMatrix(matrix), OPTIONS)).rejects.toThrow(/^matrix has rank 0: 3 × 5; /);
    expect(tf.memory().numTensors).toBe(before);
  });

  test('is the same for the same seed, and leaves no tensor', async () => {
    const matrix = buildSparseMatrix(drawCountMatrix());
    const before = tf.memory().numTensors;
    const first = await randomisedSvd(matrix, OPTIONS);
    expect(tf.memory().numTensors).toBe(before);
    expect((await randomisedSvd(matrix, OPTIONS)).right).toEqual(first.right);
    expect((await randomisedSvd(matrix, { ...OPTIONS, powerIterations: 0, seed: 6 })).right).not.toEqual(first.right);
  });
});
