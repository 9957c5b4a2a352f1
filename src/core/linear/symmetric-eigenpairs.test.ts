import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { describe, expect, test } from 'vitest';
import { NotFiniteError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { computeSymmetricEigenpairs } from './symmetric-eigenpairs.ts';

/** Row-major [N, N]. */
function drawSymmetric(size: number): Float64Array {
  const stream = createRandom(41, 'symmetric');
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) matrix[i * size + j] = matrix[j * size + i] = stream.drawNormal() * 0.9 ** j;
  return matrix;
}

/** With rows and columns of zeros, which no reflection changes. */
const drawSparse = (size: number) =>
  drawSymmetric(size).map((value, i) => (Math.floor(i / size) % 3 === 1 || (i % size) % 3 === 1 ? 0 : value));

const buildDiagonal = (size: number) =>
  Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 5 - (i % 3) : -0));

describe.each<[string, number, (size: number) => Float64Array]>([
  ['of one number', 1, drawSymmetric],
  ['of two rows', 2, drawSymmetric],
  ['of a row more than four', 5, drawSymmetric],
  ['of eight rows', 8, drawSymmetric],
  ['with more rotations than wait', 89, drawSymmetric],
  ['with empty rows', 23, drawSparse],
  ['of zeros', 7, (size) => new Float64Array(size * size)],
  ['of ones', 13, (size) => new Float64Array(size * size).fill(1)],
  ['with equal eigenvalues', 11, buildDiagonal],
  ['of large numbers', 19, (size) => drawSymmetric(size).map((value) => value * 1e37)],
])('a matrix %s', (_, size, draw) => {
  const matrix = draw(size);
  const { values, vectors } = computeSymmetricEigenpairs(matrix.slice(), size);

  test('has the bits of ml-matrix', () => {
    const oracle = new EigenvalueDecomposition(Matrix.from1DArray(size, size, [...matrix]), { assumeSymmetric: true });
    expect(values).toEqual(Float64Array.from(oracle.realEigenvalues).reverse());
    expect(vectors).toEqual(Float64Array.from(oracle.eigenvectorMatrix.transpose().flipColumns().to1DArray()));
  });

  test('has eigenvectors of length 1, which it multiplies by their eigenvalues', () => {
    for (let pair = 0; pair < size; pair++) {
      const vector = vectors.subarray(pair * size, (pair + 1) * size);
      for (let row = 0; row < size; row++) {
        let product = 0;
        for (let k = 0; k < size; k++) product += matrix[row * size + k]! * vector[k]!;
        expect(Math.abs(product - values[pair]! * vector[row]!)).toBeLessThanOrEqual(1e-13 * Math.abs(values[0]!));
      }
      expect(vector.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 12);
      if (pair > 0) expect(values[pair]).toBeLessThanOrEqual(values[pair - 1]!);
    }
  });
});

test.each([NaN, Infinity])('a matrix with %s is refused', (value) => {
  const matrix = drawSymmetric(5);
  matrix[7] = matrix[11] = value;
  expect(() => computeSymmetricEigenpairs(matrix, 5)).toThrow(NotFiniteError);
  expect(() => computeSymmetricEigenpairs(matrix, 5)).toThrow(/symmetric matrix.*1, 2/);
});
