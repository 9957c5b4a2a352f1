import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';

/**
 * Roots of the weighted sums of squares.
 *
 * @param differences [B, C, M]
 * @param weights [M], or [B, C, M]
 * @returns [B, C]
 */
function computeWeightedLengths(differences: tf.Tensor3D, weights: tf.Tensor1D | tf.Tensor3D): tf.Tensor2D {
  const squares: tf.Tensor3D = tf.square(differences);
  if (weights.rank === 3) return tf.sqrt(tf.sum(tf.mul(weights, squares), 2));
  const [batch, count, coordinates] = squares.shape;
  // As a product, since wasm broadcasts weights over [B, C, M] ten times as slowly.
  const sums = matmul(tf.reshape(squares, [batch * count, coordinates]), tf.expandDims(weights, 1) as tf.Tensor2D);
  return tf.sqrt(tf.reshape(sums, [batch, count]));
}

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
  return scoped('trajectoryDistance', () => computeWeightedLengths(tf.sub(candidates, queries), weights));
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
  return scoped('pairwiseTrajectoryDistance', () =>
    computeWeightedLengths(tf.sub(tf.expandDims(a, 1), tf.expandDims(b, 0)), weights),
  );
}
