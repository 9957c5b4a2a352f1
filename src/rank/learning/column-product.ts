import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { withGradient } from './with-gradient.ts';

/** Constant features of pairs, twice: on wasm a row times a matrix takes half as long as a matrix times a column, there and back. */
interface FeatureColumns {
  /** [B, C, F] */
  readonly rows: tf.Tensor3D;
  /** [F, B C] */
  readonly columns: tf.Tensor2D;
}

/** Puts features on the device. @param values row-major [B, C, F] */
export function uploadFeatures(values: Float32Array, shape: [number, number, number]): FeatureColumns {
  return scoped('uploadFeatures', () => {
    const rows = tf.tensor3d(values, shape);
    return { rows, columns: tf.transpose(tf.reshape(rows, [shape[0] * shape[1], shape[2]])) as tf.Tensor2D };
  });
}

/**
 * Weighted sums of features, which are not differentiated. 4 B C F operations with the gradient.
 *
 * @param features must live until the gradient is computed, since wasm copies what is saved for it
 * @param weights [F]
 * @returns [B, C]
 */
export function multiplyColumns({ rows, columns }: FeatureColumns, weights: tf.Tensor1D): tf.Tensor2D {
  const sizes = assertShape('features', rows, 'B C F');
  assertShape('weights', weights, 'F', sizes);
  const [queries, candidates, count] = rows.shape;
  const pairs = queries * candidates;
  return withGradient(weights, (given) => ({
    value: tf.reshape(matmul(tf.reshape(given, [1, count]), columns), [queries, candidates]) as tf.Tensor2D,
    saved: [],
    gradient: (dy) => tf.reshape(matmul(tf.reshape(dy, [1, pairs]), tf.reshape(rows, [pairs, count])), [count]),
  }));
}
