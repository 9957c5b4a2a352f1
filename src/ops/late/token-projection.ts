import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../core/tensors/matmul.ts';

/** Rows of length 1, differentiable. @param rows [R, D] */
export function scaleToUnit(rows: tf.Tensor2D): tf.Tensor2D {
  return tf.mul(rows, tf.rsqrt(tf.add(tf.sum(tf.square(rows), 1, true), 1e-12)));
}

/**
 * The rows x (I + U V), scaled to length 1; differentiable by all three.
 *
 * @param rows [R, D]
 * @param up U, [D, r]
 * @param down V, [r, D]
 */
export function projectTokens(rows: tf.Tensor2D, up: tf.Tensor2D, down: tf.Tensor2D): tf.Tensor2D {
  return scaleToUnit(tf.add(rows, matmul(matmul(rows, up), down)));
}
