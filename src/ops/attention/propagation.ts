import * as tf from '@tensorflow/tfjs-core';
import { matmul, normaliseRows } from '../../core/tensors/matmul.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { assertShape } from '../../core/tensors/shapes.ts';
import type { PropagationOptions } from './options.ts';
import { computeCosines, computeRingAttentionWeights } from './ring-attention.ts';
import { buildRingGeometry } from './ring-geometry.ts';

/** The order of R chosen turns and all T turns of a conversation, if it is not that of time, as of the time of each chosen turn. */
export interface RingPositionsAsOf {
  /** int32 [R] */
  readonly own: tf.Tensor1D;
  /** [R, T], at least the conversation's size for a later turn. */
  readonly keys: tf.Tensor2D;
}

/** Cosines of the chosen turns with all, [R, T], where no turn is multiplied twice: of all turns, where as many are chosen. */
function computeChosenCosines(embeddings: tf.Tensor2D, turns: tf.Tensor1D): tf.Tensor2D {
  return scoped('computeChosenCosines', () =>
    turns.size < embeddings.shape[0]
      ? computeCosines(tf.gather(embeddings, turns), embeddings)
      : tf.gather(computeCosines(embeddings, embeddings), turns),
  );
}

/**
 * Propagated embeddings of R chosen turns of a conversation, each at the time when the conversation had `sizes[r]` turns:
 * `normalise((1 - beta) e + beta * attention output)`, the attention running over the first `sizes[r]` turns as a ring of that size. O(R T D), the sum over
 * keys being one plain matrix product for all times; cosines are O(min(R, T) T D).
 *
 * @param embeddings [T, D] in time order
 * @param turns int32 [R] the chosen ones, each below its size
 * @param sizes int32 [R]
 * @param ringPositions the order of the turns; by default time order
 * @returns [R, D]; a row is zero where the mix of its embedding and its neighbours' is
 */
export function propagateAtMoments(
  embeddings: tf.Tensor2D,
  turns: tf.Tensor1D,
  sizes: tf.Tensor1D,
  options: PropagationOptions,
  ringPositions?: RingPositionsAsOf,
): tf.Tensor2D {
  const bound = assertShape('embeddings', embeddings, 'T D');
  assertShape('turns', turns, 'R', bound);
  assertShape('sizes', sizes, 'R', bound);
  if (ringPositions !== undefined) assertShape('places of the keys', ringPositions.keys, 'R T', bound);
  return scoped('propagateAtMoments', () => {
    const cosine = computeChosenCosines(embeddings, turns);
    const inTime = buildRingGeometry(ringPositions?.own ?? turns, tf.range(0, bound.T as number, 1, 'int32'), sizes);
    const geometry = ringPositions === undefined ? inTime : { ...inTime, keyPositions: ringPositions.keys };
    const known: tf.Tensor2D = tf.less(geometry.keyPositions, geometry.ringSize); // [R, T]
    const weights = computeRingAttentionWeights(cosine, geometry, options, known); // [R, T]
    // The turn's own share is a weight, so that the product makes [R, D] once.
    const own = tf.cast(tf.equal(geometry.keyPositions, geometry.queryPositions), 'float32'); // [R, T]
    const shares: tf.Tensor2D = tf.add(tf.mul(own, 1 - options.beta), tf.mul(weights, options.beta));
    return normaliseRows(matmul(shares, embeddings));
  });
}

/**
 * Propagates all turns of a conversation.
 *
 * @param embeddings [T, D] in time order
 * @returns [T, D]
 */
export function propagateEmbeddings(embeddings: tf.Tensor2D, options: PropagationOptions): tf.Tensor2D {
  const { T: turns = 0 } = assertShape('embeddings', embeddings, 'T D');
  return scoped('propagate', () =>
    propagateAtMoments(embeddings, tf.range(0, turns, 1, 'int32'), tf.fill([turns], turns, 'int32'), options),
  );
}
