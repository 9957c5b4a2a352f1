import * as tf from '@tensorflow/tfjs-core';
import { prefersPlainProducts } from './backend.ts';
import { assertShape } from './rows.ts';
import { scoped } from './scope.ts';

/**
 * The one place that decides how matrices are multiplied. Plain products of two matrices are fast everywhere; on wasm a batch axis or `transposeB` costs a
 * factor of ten, so operands are transposed explicitly and batches become a loop there.
 *
 * @param a [T, D]
 * @param b [D, K]
 * @returns [T, K]
 */
export function matmul(a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('a', a, 'T D');
  assertShape('b', b, 'D K', sizes);
  return tf.matMul(a, b);
}

/**
 * @param a [T, D]
 * @param b [K, D]
 * @returns a bᵀ, [T, K]
 */
export function matmulTransposed(a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('a', a, 'T D');
  assertShape('b', b, 'K D', sizes);
  if (!prefersPlainProducts()) return tf.matMul(a, b, false, true);
  return scoped('matmulTransposed', () => tf.matMul(a, tf.transpose(b)));
}

/**
 * @param a [B, T, D]
 * @param b [B, D, K]
 * @returns [B, T, K]
 */
export function batchedMatmul(a: tf.Tensor3D, b: tf.Tensor3D): tf.Tensor3D {
  const sizes = assertShape('a', a, 'B T D');
  assertShape('b', b, 'B D K', sizes);
  if (!prefersPlainProducts()) return tf.matMul(a, b);
  return multiplyOneByOne(a, b);
}

/**
 * The products one by one. A slice costs wasm a copy of all that it is taken from, so batches are halved again and again instead of unstacked: with B = 64 and
 * 26 MB of operands that is 6 copies instead of 64. Each half has a scope: otherwise the operands that wasm packs accumulate until the end.
 */
function multiplyOneByOne(a: tf.Tensor3D, b: tf.Tensor3D): tf.Tensor3D {
  const [batch, rows, inner] = a.shape;
  const columns = b.shape[2];
  if (batch === 0) return tf.zeros([0, rows, columns]);
  return scoped('multiplyOneByOne', () => {
    if (batch === 1) {
      const product = tf.matMul(tf.reshape(a, [rows, inner]), tf.reshape(b, [inner, columns]));
      return tf.reshape(product, [1, rows, columns]);
    }
    const middle = batch >> 1;
    const halves = [
      [0, middle],
      [middle, batch - middle],
    ] as const;
    return tf.concat(
      halves.map(([start, size]) =>
        scoped('half', () =>
          multiplyOneByOne(tf.slice(a, start, size) as tf.Tensor3D, tf.slice(b, start, size) as tf.Tensor3D),
        ),
      ),
    );
  }) as tf.Tensor3D;
}

/** Scales each row of [N, D] to length 1; a zero row stays zero. */
export function normaliseRows(rows: tf.Tensor2D): tf.Tensor2D {
  assertShape('rows', rows, 'N D');
  return scoped('normaliseRows', () => {
    const norms = tf.sqrt(tf.sum(tf.square(rows), 1, true)); // [N, 1]
    return tf.mul(rows, tf.divNoNan(1, norms)); // wasm divides [N, D] 30 times slower than it multiplies
  });
}
