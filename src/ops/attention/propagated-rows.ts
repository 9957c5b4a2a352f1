import * as tf from '@tensorflow/tfjs-core';
import { matmul, matmulTransposed, normaliseRows } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { attentionLogits, maskedSoftmax, type PropagationOptions } from './options.ts';

/** A turn at the moment when its conversation had `size` turns, and where the conversation lies among the rows. */
export interface TurnAtMoment {
  /** The row of the conversation's first turn. */
  readonly start: number;
  /** The place of the turn in its conversation, in time order. */
  readonly turn: number;
  readonly size: number;
  /** The ring position of each turn of the conversation at the moment; null: time order. */
  readonly ringPositionOf: Int32Array | null;
}

/** Rows that R turns see of T, row-major [R, T] each, so that a device needs neither positions nor comparisons. */
interface SeenRows {
  /** Steps to the keys that are seen, 0 to others. */
  readonly distances: Float32Array;
  /** 1 where a key is seen: of the conversation, earlier than the moment, in the direction. */
  readonly isSeen: Uint8Array;
  /** `1 - beta` at the turn itself, 0 elsewhere. */
  readonly ownShares: Float32Array;
}

/** O(the sum of the sizes), and [R, T] zeros. */
export function listSeenRows(moments: readonly TurnAtMoment[], rows: number, options: PropagationOptions): SeenRows {
  const { topology, direction, self, beta } = options;
  const distances = new Float32Array(moments.length * rows);
  const isSeen = new Uint8Array(moments.length * rows);
  const ownShares = new Float32Array(moments.length * rows);
  for (const [i, { start, turn, size, ringPositionOf }] of moments.entries()) {
    const at = i * rows + start;
    const own = ringPositionOf?.[turn] ?? turn;
    ownShares[at + turn] = 1 - beta;
    for (let key = 0; key < size; key++) {
      const ringPosition = ringPositionOf?.[key] ?? key;
      if ((direction === 'causal' && ringPosition > own) || (direction === 'anticausal' && ringPosition < own))
        continue;
      if (self === 'exclude' && key === turn) continue;
      const steps = Math.abs(own - ringPosition);
      distances[at + key] = topology === 'ring' ? Math.min(steps, size - steps) : steps;
      isSeen[at + key] = 1;
    }
  }
  return { distances, isSeen, ownShares };
}

/**
 * Cosines of the chosen rows with all, [R, T], where no row is multiplied twice: of all rows, where as many are chosen.
 */
function computeChosenCosines(embeddings: tf.Tensor2D, chosen: tf.Tensor1D): tf.Tensor2D {
  return scoped('computeChosenCosines', () => {
    const units = normaliseRows(embeddings);
    if (chosen.size < embeddings.shape[0]) return matmulTransposed(tf.gather(units, chosen), units);
    return tf.gather(matmulTransposed(units, units), chosen);
  });
}

/**
 * Propagated embeddings of R turns of one or more conversations, each at its moment: `normalise((1 - beta) e + beta *
 * attention output)`, the attention running over the first `size` turns of its conversation as a ring of that size.
 * O(R T D), the sum over keys being one plain matrix product for all moments and conversations; cosines are O(min(R, T)
 * T D). Keys of other conversations are masked, so nothing is padded; on wasm a row is the same in every bit, whatever
 * the other rows are.
 *
 * @param embeddings [T, D] the turns of a conversation after those of another, in time order
 * @param moments R
 * @returns [R, D]; a row is zero where the mix of its embedding and its neighbours' is
 */
export function propagateAtMoments(
  embeddings: tf.Tensor2D,
  moments: readonly TurnAtMoment[],
  options: PropagationOptions,
): tf.Tensor2D {
  const { T: rows = 0 } = assertShape('embeddings', embeddings, 'T D');
  return scoped('propagateAtMoments', () => {
    const shape: [number, number] = [moments.length, rows];
    const { distances, isSeen, ownShares } = listSeenRows(moments, rows, options);
    const chosen = Int32Array.from(moments, ({ start, turn }) => start + turn);
    const cosine = computeChosenCosines(embeddings, tf.tensor1d(chosen, 'int32'));
    const logits = attentionLogits(cosine, tf.tensor2d(distances, shape), options);
    const weights = maskedSoftmax(logits, tf.tensor2d(isSeen, shape, 'bool')); // [R, T]
    // The turn's own share is a weight, so that the product makes [R, D] once.
    const shares: tf.Tensor2D = tf.add(tf.tensor2d(ownShares, shape), tf.mul(weights, options.beta));
    return normaliseRows(matmul(shares, embeddings));
  });
}
