import * as tf from '@tensorflow/tfjs-core';
import { prefersPlainProducts } from './backend.ts';
import { scoped } from './scope.ts';
import { assertShape } from './shapes.ts';

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
  return scoped('batchedMatmul', () => {
    const lefts = tf.unstack(a) as tf.Tensor2D[];
    const rights = tf.unstack(b) as tf.Tensor2D[];
    // A scope for each product: without it the operands that wasm packs pile up until the end of the batch.
    return tf.stack(
      lefts.map((left, i) => scoped('batchedMatmul.one', () => tf.matMul(left, rights[i] as tf.Tensor2D))),
    ) as tf.Tensor3D;
  });
}

/** Scales each row of [N, D] to length 1; a zero row stays zero. */
export function normaliseRows(rows: tf.Tensor2D): tf.Tensor2D {
  return scoped('normaliseRows', () => {
    const norms = tf.sqrt(tf.sum(tf.square(rows), 1, true)); // [N, 1]
    return tf.divNoNan(rows, norms) as tf.Tensor2D;
  });
}
