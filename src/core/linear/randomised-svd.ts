import * as tf from '@tensorflow/tfjs-core';
import { ConvergenceError, NotFiniteError, ValidationError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { ensureBackend } from '../tensors/backend.ts';
import { matmul } from '../tensors/matmul.ts';
import { readBack, scoped } from '../tensors/scope.ts';
import { createEventBreaks, ignoreProgress, letEventsIn, type StartProgress } from '../terminal/progress.ts';
import { invertCholesky } from './cholesky.ts';
import { type SparseMatrix, transpose } from './sparse-matrix.ts';
import { multiplyInTurn } from './sparse-product.ts';
import { computeSymmetricEigenpairs, type SymmetricEigenpairs } from './symmetric-eigenpairs.ts';

const FLOAT32_EPSILON = 2 ** -23;
/** The tolerance of YᵀY against the identity, within the accuracy of float32 sums over some thousand rows. */
const ORTHONORMAL = 1e-4;
const MAX_PASSES = 12;
const NONE: ReadonlySet<number> = new Set();
/** A column below this squared length is rounding error, relative to columns of length 1. */
const ZERO_NORM = FLOAT32_EPSILON ** 2;

/**
 * An orthonormal basis of (at least) the columns of Y by shifted Cholesky QR, repeated until YᵀY is the identity: the
 * two products over N rows run on the backend, the Cholesky factor of K × K in float64 on the host.
 *
 * A pass divides what a column has outside the span of the columns before it by the root of the shift, and multiplies
 * what it has inside by that root. So a column that depends on the others becomes an arbitrary direction that is
 * orthogonal to them where rounding leaves it one. Where the rows of Y hold no further direction (empty or repeated
 * rows), the column shrinks pass by pass; one that is shorter than rounding after the last pass is set to zero.
 *
 * Fukaya, Kannan, Nakatsukasa, Yamamoto, Yanagisawa 2020, "Shifted Cholesky QR for computing the QR factorization of
 * ill-conditioned matrices".
 *
 * @param y row-major [N, K]
 * @param maxPasses the dozen is more than float32 has ever needed.
 * @returns row-major [N, K]
 * @throws NotFiniteError when the columns hold NaN or infinity; ConvergenceError when YᵀY is still not the identity
 *   after the last pass.
 */
export async function computeOrthonormalBasis(
  y: Float32Array,
  width: number,
  maxPasses: number = MAX_PASSES,
): Promise<Float32Array> {
  await ensureBackend();
  let basis: tf.Tensor2D = tf.tensor2d(y, [y.length / width, width]);
  try {
    for (let pass = 0; ; pass++) {
      const gram = await readBack('gram', () => matmul(tf.transpose(basis), basis)); // [K, K]
      const last = pass === maxPasses;
      const dependent = last ? findNegligibleColumns(gram, width) : NONE;
      const distance = measureOrthonormality(gram, width, dependent);
      if (distance < ORTHONORMAL) return withoutColumns((await basis.data()) as Float32Array, width, dependent);
      if (last) throw new ConvergenceError('orthonormal basis', maxPasses, ORTHONORMAL, distance);
      const next = scoped('computeOrthonormalBasis', () =>
        matmul(basis, tf.tensor2d(invertShifted(gram, width), [width, width])),
      );
      basis.dispose();
      basis = next;
      await letEventsIn(); // a backend that computes at once would not
    }
  } finally {
    basis.dispose();
  }
}

function findNegligibleColumns(gram: Float32Array, width: number): ReadonlySet<number> {
  const columns = new Set<number>();
  for (let i = 0; i < width; i++) if (gram[i * width + i]! < ZERO_NORM) columns.add(i);
  return columns;
}

function withoutColumns(rows: Float32Array, width: number, columns: ReadonlySet<number>): Float32Array {
  return columns.size === 0 ? rows : rows.map((value, i) => (columns.has(i % width) ? 0 : value));
}

/** The largest deviation of YᵀY from the identity; allows zero columns and ignores those of `skipped`. */
function measureOrthonormality(gram: Float32Array, width: number, skipped: ReadonlySet<number>): number {
  let distance = 0;
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < width; j++) {
      const value = gram[i * width + j]!;
      if (!Number.isFinite(value)) throw new NotFiniteError('product of columns', `${i}, ${j}`, value);
      if (value === 0 || skipped.has(i) || skipped.has(j)) continue;
      distance = Math.max(distance, Math.abs(value - (i === j ? 1 : 0)));
    }
  }
  return distance;
}

/**
 * The inverse of R, where RᵀR = G + shift · I and R is upper triangular. The shift keeps rounding in G from making it
 * indefinite.
 *
 * @param gram row-major [K, K]
 * @returns row-major [K, K], upper triangular
 */
function invertShifted(gram: Float32Array, width: number): Float32Array {
  let largest = 0;
  for (let i = 0; i < width; i++) largest = Math.max(largest, gram[i * width + i]!);
  return invertCholesky(gram, width, FLOAT32_EPSILON * width * largest);
}

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
  const applyToSubspace = (dense: Float32Array) => multiplyInTurn([transposed, a], dense, width);
  const steps = progress('singular vectors', options.powerIterations + 2);
  let basis = await drawGaussianMatrix(a.rows, width, options.seed); // row-major [rows, l]
  for (let iteration = 0; iteration <= options.powerIterations; iteration++) {
    basis = await computeOrthonormalBasis(await applyToSubspace(basis), width);
    steps.update(iteration + 1);
    await letEventsIn();
  }
  const { values, vectors } = await computeProjectedEigenpairs(basis, await applyToSubspace(basis), width);
  steps.update(options.powerIterations + 2);
  const rank = Math.min(options.rank, values.filter((value) => value > NEGLIGIBLE ** 2 * values[0]!).length);
  if (rank === 0) throw describeRankZero(a);
  const singularValues = values.slice(0, rank).map(Math.sqrt);
  const left = await multiplyRead(basis, [a.rows, width], transposeLeading(vectors, width, rank), [width, rank]);
  const right = await multiplyInTurn([transposed], left, rank);
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
): Promise<SymmetricEigenpairs> {
  const rows = basis.length / width;
  const projected = await readBack('projected', () =>
    matmul(tf.transpose(tf.tensor2d(basis, [rows, width])), tf.tensor2d(image, [rows, width])),
  );
  const symmetric = new Float64Array(width * width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < width; j++)
      symmetric[i * width + j] = (projected[i * width + j]! + projected[j * width + i]!) / 2;
  }
  return computeSymmetricEigenpairs(symmetric, width);
}

/** The first K of l rows as columns. Row-major [l, K] */
function transposeLeading(rows: Float64Array, width: number, count: number): Float32Array {
  const columns = new Float32Array(width * count);
  for (let row = 0; row < count; row++)
    for (let i = 0; i < width; i++) columns[i * count + row] = rows[row * width + i]!;
  return columns;
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
