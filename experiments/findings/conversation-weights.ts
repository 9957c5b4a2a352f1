import * as tf from '@tensorflow/tfjs-core';
import { gatherRows } from '../../src/core/tensors/rows.ts';
import { readBack } from '../../src/core/tensors/scope.ts';
import type { RingAttentionOptions } from '../../src/ops/attention/options.ts';
import { ringAttention } from '../../src/ops/attention/ring-attention.ts';

/** One conversation, or a corpus read as one. */
export interface ConversationVectors {
  /** T */
  readonly turns: number;
  /** Row-major [T, D], in the order of time. */
  readonly vectors: Float32Array;
}

/** The order of a conversation's messages on the ring: in time order, or reversed. */
type RingOrder = 'causal' | 'inverse';

/** Places from the first message to the last, evenly spread; all of them if there are at most `count`. */
export function spreadRingPositions(turns: number, count: number): number[] {
  const last = Math.min(count, turns) - 1;
  return Array.from({ length: last + 1 }, (_, i) => Math.round((i * (turns - 1)) / Math.max(last, 1)));
}

/**
 * Attention weights of the messages at some places over their whole conversation.
 *
 * @param order of the ring
 * @returns row-major [places.length, T]
 */
export function weightRows(
  { turns, vectors }: ConversationVectors,
  order: RingOrder,
  options: RingAttentionOptions,
  ringPositions: readonly number[],
): Promise<Float32Array> {
  const width = vectors.length / turns;
  const orderOnRing = (ringPosition: number) => (order === 'causal' ? ringPosition : turns - 1 - ringPosition);
  const all = Array.from({ length: turns }, (_, ringPosition) => orderOnRing(ringPosition));
  return readBack('weightRows', () => {
    const inputs = {
      queries: tf.tensor2d(gatherRows(vectors, width, ringPositions), [ringPositions.length, width]),
      keys: tf.tensor2d(vectors, [turns, width]),
      values: tf.zeros([turns, 1]) as tf.Tensor2D, // only the weights are wanted
      queryPositions: tf.tensor1d(ringPositions.map(orderOnRing), 'int32'),
      keyPositions: tf.tensor1d(all, 'int32'),
      ringSize: turns,
    };
    return ringAttention(inputs, options).weights;
  });
}

/** Attention weights of all messages of a conversation, row-major [T, T]. */
export function weightMatrix(
  conversation: ConversationVectors,
  order: RingOrder,
  options: RingAttentionOptions,
): Promise<Float32Array> {
  return weightRows(conversation, order, options, spreadRingPositions(conversation.turns, conversation.turns));
}
