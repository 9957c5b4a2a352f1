import * as tf from '@tensorflow/tfjs-core';
import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { ValidationError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { matmul } from '../tensors/matmul.ts';
import { readBack } from '../tensors/scope.ts';
import { ignoreProgress, type StartProgress } from '../terminal/progress.ts';
import { createEventBreaks, letEventsIn } from '../values/event-loop.ts';
import { computeOrthonormalBasis } from './orthonormal-basis.ts';
import { multiplySparseWithBreaks, type SparseMatrix, transpose } from './sparse-matrix.ts';

/** A truncated singular value decomposition by random projection: `rank` singular values, `oversampling` extra directions, and power iterations. */
export interface SvdOptions {
  /** K, the requested number of singular triples. */
  readonly rank: number;
  /** Further random directions, which make the last triples exact. */
  readonly oversampling: number;
  /** Products with A Aᵀ, each followed by orthonormalisation. */
  readonly powerIterations: number;
  readonly seed: number;
}

/** The leading singular triples of A ≈ U diag(σ) Vᵀ. */
export interface TruncatedSvd {
  /** The K found: smaller than requested if A has fewer directions. */
  readonly rank: number;
  /** [K], descending. */
  readonly singularValues: Float64Array;
  /** V, row-major [columns, K]; the entry of largest magnitude of each column is positive. */
  readonly right: Float32Array;
}

/** Below this share of the largest singular value a direction cannot be distinguished from float32 rounding of A Aᵀ. */
const NEGLIGIBLE = 1e-3;

/**
 * Randomised truncated SVD: a random subspace of the row side, sharpened by power iterations on A Aᵀ (sparse products on the host, orthonormalised on the backend),
 * then the exact decomposition of A Aᵀ within it. With l = K + oversampling: O(powerIterations (entries · l + rows · l²) + l³).
 *
 * Halko, Martinsson, Tropp 2011, "Finding structure with randomness", algorithms 4.4 and 5.3.
 *
 * @throws ValidationError for a matrix of rank 0, which has no singular vectors; ConvergenceError, NotFiniteError as {@link computeOrthonormalBasis}.
 */
export async function randomisedSvd(
  a: SparseMatrix,
  options: SvdOptions,
  progress: StartProgress = ignoreProgress,
): Promise<TruncatedSvd> {
  const width = Math.min(options.rank + options.oversampling, a.rows, a.columns);
  if (width === 0) throw describeRankZero(a);
  const transposed = transpose(a);
  // A Aᵀ · dense, without forming A Aᵀ
  const applyToSubspace = async (dense: Float32Array) =>
    multiplySparseWithBreaks(a, await multiplySparseWithBreaks(transposed, dense, width), width);
  const steps = progress('singular vectors', options.powerIterations + 2);
  let basis = await drawGaussianMatrix(a.rows, width, options.seed); // row-major [rows, l]
  for (let iteration = 0; iteration <= options.powerIterations; iteration++) {
    basis = await computeOrthonormalBasis(await applyToSubspace(basis), width);
    steps.update(iteration + 1);
    await letEventsIn();
  }
  const { eigenvalues, eigenvectors } = await computeProjectedEigenpairs(basis, await applyToSubspace(basis), width);
  steps.update(options.powerIterations + 2);
  const rank = Math.min(options.rank, eigenvalues.filter((value) => value > NEGLIGIBLE ** 2 * eigenvalues[0]!).length);
  if (rank === 0) throw describeRankZero(a);
  const singularValues = Float64Array.from(eigenvalues.slice(0, rank), Math.sqrt);
  const left = await multiplyRead(basis, [a.rows, width], takeLeadingColumns(eigenvectors, rank), [width, rank]);
  const right = await multiplySparseWithBreaks(transposed, left, rank);
  divideColumns(right, singularValues);
  steps.finish(`${rank} of ${options.rank} asked for`);
  return { rank, singularValues, right };
}

function describeRankZero({ rows, columns }: SparseMatrix): ValidationError {
  return new ValidationError(`matrix has rank 0: ${rows} × ${columns}; give a matrix with an entry other than 0`, {
    rows,
    columns,
  });
}

async function drawGaussianMatrix(rows: number, width: number, seed: number): Promise<Float32Array> {
  const stream = createRandom(seed, 'randomised-svd');
  const pause = createEventBreaks();
  const matrix = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let i = row * width; i < (row + 1) * width; i++) matrix[i] = stream.drawNormal();
    await pause();
  }
  return matrix;
}

function multiplyRead(
  a: Float32Array,
  aShape: [number, number],
  b: Float32Array,
  bShape: [number, number],
): Promise<Float32Array> {
  return readBack('product', () => matmul(tf.tensor2d(a, aShape), tf.tensor2d(b, bShape)));
}

/** Eigenpairs of basisᵀ image [l, l], which is symmetric, largest first. */
async function computeProjectedEigenpairs(
  basis: Float32Array,
  image: Float32Array,
  width: number,
): Promise<{ eigenvalues: number[]; eigenvectors: Matrix }> {
  const rows = basis.length / width;
  const projected = await readBack('projected', () =>
    matmul(tf.transpose(tf.tensor2d(basis, [rows, width])), tf.tensor2d(image, [rows, width])),
  );
  const symmetric = new Matrix(width, width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < width; j++) symmetric.set(i, j, (projected[i * width + j]! + projected[j * width + i]!) / 2);
  }
  const decomposition = new EigenvalueDecomposition(symmetric, { assumeSymmetric: true }); // ascending
  return {
    eigenvalues: [...decomposition.realEigenvalues].reverse(),
    eigenvectors: decomposition.eigenvectorMatrix.flipRows(),
  };
}

/** Row-major [l, K] */
function takeLeadingColumns(matrix: Matrix, count: number): Float32Array {
  return Float32Array.from(matrix.subMatrix(0, matrix.rows - 1, 0, count - 1).to1DArray());
}

/** Divides each column by its singular value; flips its sign if its largest entry is negative, since signs are arbitrary. */
function divideColumns(columns: Float32Array, singularValues: Float64Array): void {
  const width = singularValues.length;
  const largest = new Float64Array(width);
  for (let i = 0; i < columns.length; i++) {
    const column = i % width;
    if (Math.abs(columns[i]!) > Math.abs(largest[column]!)) largest[column] = columns[i]!;
  }
  const divisors = singularValues.map((value, column) => (largest[column]! < 0 ? -value : value));
  for (let i = 0; i < columns.length; i++) columns[i]! /= divisors[i % width]!;
}
