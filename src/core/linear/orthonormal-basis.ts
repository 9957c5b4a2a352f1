import * as tf from '@tensorflow/tfjs-core';
import { ConvergenceError, NotFiniteError } from '../errors/errors.ts';
import { ensureBackend } from '../tensors/backend.ts';
import { matmul } from '../tensors/matmul.ts';
import { readBack, scoped } from '../tensors/scope.ts';
import { letEventsIn } from '../values/event-loop.ts';

const FLOAT32_EPSILON = 2 ** -23;
/** The tolerance of YᵀY against the identity, within the accuracy of float32 sums over some thousand rows. */
const ORTHONORMAL = 1e-4;
const MAX_PASSES = 12;
const NONE: ReadonlySet<number> = new Set();
/** A column below this squared length is rounding error, relative to columns of length 1. */
const NEGLIGIBLE = FLOAT32_EPSILON ** 2;

/**
 * An orthonormal basis of (at least) the columns of Y by shifted Cholesky QR, repeated until YᵀY is the identity: the two products over N rows run on the
 * backend, the Cholesky factor of K × K in float64 on the host.
 *
 * A pass divides what a column has outside the span of the columns before it by the root of the shift, and multiplies what it has inside by that root. So a
 * column that depends on the others becomes an arbitrary direction that is orthogonal to them where rounding leaves it one. Where the rows of Y hold no further
 * direction (empty or repeated rows), the column shrinks pass by pass; one that is shorter than rounding after the last pass is set to zero.
 *
 * Fukaya, Kannan, Nakatsukasa, Yamamoto, Yanagisawa 2020, "Shifted Cholesky QR for computing the QR factorization of ill-conditioned matrices".
 *
 * @param y row-major [N, K]
 * @param maxPasses the dozen is more than float32 has ever needed.
 * @returns row-major [N, K]
 * @throws NotFiniteError when the columns hold NaN or infinity; ConvergenceError when YᵀY is still not the identity after the last pass.
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
        matmul(basis, tf.tensor2d(invertCholesky(gram, width), [width, width])),
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
  for (let i = 0; i < width; i++) if (gram[i * width + i]! < NEGLIGIBLE) columns.add(i);
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
 * The inverse of R, where RᵀR = G + shift · I and R is upper triangular. The shift keeps rounding in G from making it indefinite.
 *
 * @param gram row-major [K, K]
 * @returns row-major [K, K], upper triangular
 */
function invertCholesky(gram: Float32Array, width: number): Float32Array {
  let largest = 0;
  for (let i = 0; i < width; i++) largest = Math.max(largest, gram[i * width + i]!);
  return Float32Array.from(
    invertTransposed(computeLowerCholesky(gram, width, FLOAT32_EPSILON * width * largest), width),
  );
}

/** L with L Lᵀ = G + shift · I, row by row, so that the inner loop runs along two rows. K³ / 3 operations. */
function computeLowerCholesky(gram: Float32Array, width: number, shift: number): Float64Array {
  const lower = new Float64Array(width * width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let value = gram[i * width + j]! + (i === j ? shift : 0);
      for (let k = 0; k < j; k++) value -= lower[i * width + k]! * lower[j * width + k]!;
      lower[i * width + j] = i === j ? Math.sqrt(Math.max(value, shift)) : value / lower[j * width + j]!;
    }
  }
  return lower;
}

/** (L⁻¹)ᵀ, by forward substitution for each unit vector. K³ / 3 operations. */
function invertTransposed(lower: Float64Array, width: number): Float64Array {
  const inverse = new Float64Array(width * width);
  for (let unit = 0; unit < width; unit++) {
    const at = unit * width; // row `unit` of the transposed inverse is column `unit` of the inverse
    inverse[at + unit] = 1 / lower[unit * width + unit]!;
    for (let i = unit + 1; i < width; i++) {
      let sum = 0;
      for (let k = unit; k < i; k++) sum += lower[i * width + k]! * inverse[at + k]!;
      inverse[at + i] = -sum / lower[i * width + i]!;
    }
  }
  return inverse;
}
