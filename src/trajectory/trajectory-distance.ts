import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../core/scope.ts';
import { assertShape } from '../core/shapes.ts';

/**
 * `sqrt(sum_i w_i (p_i - q_i)^2)` for each candidate and its query (definition 4.2 of diomande2026ragpp). M coordinates.
 *
 * @param candidates [B, C, M]
 * @param queries [B, C, M], or [B, 1, M] where the query's coordinates don't depend on the candidate
 * @param weights [M], or [B, C, M] where they do
 * @returns [B, C]
 */
export function trajectoryDistance(
  candidates: tf.Tensor3D,
  queries: tf.Tensor3D,
  weights: tf.Tensor1D | tf.Tensor3D,
): tf.Tensor2D {
  const sizes = assertShape('candidates', candidates, 'B C M');
  assertShape('queries', queries, queries.shape[1] === 1 ? 'B 1 M' : 'B C M', sizes);
  assertShape('weights', weights, weights.rank === 1 ? 'M' : 'B C M', sizes);
  return scoped('trajectoryDistance', () =>
    tf.sqrt(tf.sum(tf.mul(weights, tf.square(tf.sub(candidates, queries))), 2)),
  );
}

/**
 * Distances between all pairs of two lists of coordinates.
 *
 * @param a [B, M]
 * @param b [T, M]
 * @param weights [M]
 * @returns [B, T]
 */
export function pairwiseTrajectoryDistance(a: tf.Tensor2D, b: tf.Tensor2D, weights: tf.Tensor1D): tf.Tensor2D {
  const sizes = assertShape('a', a, 'B M');
  assertShape('b', b, 'T M', sizes);
  assertShape('weights', weights, 'M', sizes);
  return scoped('pairwiseTrajectoryDistance', () => {
    const difference = tf.sub(tf.expandDims(a, 1), tf.expandDims(b, 0)); // [B, T, M]
    return tf.sqrt(tf.sum(tf.mul(weights, tf.square(difference)), 2));
  });
}
