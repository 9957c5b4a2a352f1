import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { computeSymmetricEigenpairs } from './symmetric-eigenpairs.ts';

/** Row-major [N, N]. */
function drawSymmetric(size: number): Float64Array {
  const stream = createRandom(41, 'symmetric');
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) matrix[i * size + j] = matrix[j * size + i] = stream.drawNormal() * 0.8 ** j;
  return matrix;
}

/** With rows and columns of zeros, which no reflection changes. */
const drawSparse = (size: number) =>
  drawSymmetric(size).map((value, i) => (Math.floor(i / size) % 3 === 1 || (i % size) % 3 === 1 ? 0 : value));

const buildDiagonal = (size: number) =>
  Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 5 - (i % 3) : 0));

test.each([
  ['of one number', 1, drawSymmetric],
  ['of two rows', 2, drawSymmetric],
  ['of a row more than four', 5, drawSymmetric],
  ['of four times as many rows', 44, drawSymmetric],
  ['of a prime number of rows', 61, drawSymmetric],
  ['with empty rows', 23, drawSparse],
  ['of zeros', 7, (size: number) => new Float64Array(size * size)],
  ['with equal eigenvalues', 11, buildDiagonal],
])('a matrix %s has the bits of ml-matrix', (_, size, draw) => {
  const matrix = draw(size);
  const before = matrix.slice();
  const { eigenvalues, eigenvectors } = computeSymmetricEigenpairs(matrix, size);
  const oracle = new EigenvalueDecomposition(Matrix.from1DArray(size, size, [...matrix]), { assumeSymmetric: true });
  expect(eigenvalues).toEqual(Float64Array.from(oracle.realEigenvalues));
  expect(eigenvectors).toEqual(Float64Array.from(oracle.eigenvectorMatrix.to1DArray()));
  expect(matrix).toEqual(before);
});

test('each eigenvector times the matrix is its eigenvalue times the eigenvector', () => {
  const size = 37;
  const matrix = drawSymmetric(size);
  const { eigenvalues, eigenvectors } = computeSymmetricEigenpairs(matrix, size);
  for (let pair = 0; pair < size; pair++) {
    let squares = 0;
    for (let row = 0; row < size; row++) {
      let product = 0;
      for (let k = 0; k < size; k++) product += matrix[row * size + k]! * eigenvectors[k * size + pair]!;
      expect(Math.abs(product - eigenvalues[pair]! * eigenvectors[row * size + pair]!)).toBeLessThan(1e-12);
      squares += eigenvectors[row * size + pair]! ** 2;
    }
    expect(squares).toBeCloseTo(1, 12);
    if (pair > 0) expect(eigenvalues[pair]).toBeGreaterThan(eigenvalues[pair - 1]!);
  }
});
