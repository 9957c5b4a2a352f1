import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { MASKED } from '../attention/options.ts';
import { assertSelection, gatherAtSlots, type Selection, type SelectionInputs } from './selection.ts';

/** The weight `lambda` of the score against the similarity to what was taken, in [0, 1], and the most to take. */
export interface MarginalRelevanceOptions {
  /** Weight of relevance, in [0, 1]; 1 - lambda is that of novelty. */
  readonly lambda: number;
  /** K, the number of candidates to take. */
  readonly k: number;
}

/** The state that a step takes from the previous one. */
interface Remaining extends tf.NamedTensorMap {
  /** bool [B, C], not yet taken. */
  readonly left: tf.Tensor2D;
  /** [B, C] the greatest similarity to the candidates taken; 0 if none is taken. */
  readonly redundancy: tf.Tensor2D;
}

interface Taken extends Remaining {
  /** int32 [B, 1] */
  readonly slot: tf.Tensor2D;
  /** [B, 1] */
  readonly score: tf.Tensor2D;
}

/**
 * The lowest of each row's slots with the greatest value; the backends' own argMax need not agree on which of several
 * it returns. int32 [B, 1]
 */
function findFirstBest(scores: tf.Tensor2D, best: tf.Tensor2D): tf.Tensor2D {
  const count = scores.shape[1];
  const slots = tf.range(0, count, 1, 'int32');
  return tf.min(tf.where<tf.Tensor>(tf.equal(scores, best), slots, tf.scalar(count - 1, 'int32')), 1, true);
}

/** Takes a candidate of each query, as one batch of operations. */
function take(inputs: SelectionInputs, { left, redundancy }: Remaining, lambda: number, isFirst: boolean): Taken {
  const { relevance, similarities } = inputs;
  const marginal: tf.Tensor2D = tf.sub(tf.mul(relevance, lambda), tf.mul(redundancy, 1 - lambda));
  const scores: tf.Tensor2D = tf.where(left, marginal, MASKED);
  const best: tf.Tensor2D = tf.max(scores, 1, true); // [B, 1]
  const slot = findFirstBest(scores, best);
  const similarity = tf.squeeze(gatherAtSlots(similarities, slot), [1]) as tf.Tensor2D; // [B, C]
  const slots = tf.range(0, relevance.shape[1], 1, 'int32');
  const some = tf.greater(best, MASKED / 2); // [B, 1]
  return {
    left: tf.logicalAnd(left, tf.notEqual(slots, slot)),
    redundancy: isFirst ? similarity : (tf.maximum(redundancy, similarity) as tf.Tensor2D),
    slot: tf.where<tf.Tensor>(some, slot, tf.scalar(-1, 'int32')) as tf.Tensor2D,
    score: tf.where(some, best, 0),
  };
}

/**
 * Maximal marginal relevance: takes, K times, the candidate with the greatest `lambda relevance - (1 - lambda) max_s similarity(candidate, s)` over those taken
 * before, s; the first has no such s. Equal scores go to the lower slot, so candidates should be in the tie rule's
 * order. Each step is one batch of operations over [B, C], O(B C K) in total besides the similarities.
 *
 * carbonell1998mmr
 *
 * @throws ValidationError for a lambda outside [0, 1] or a k that is no positive integer.
 */
export function maximalMarginalRelevance(inputs: SelectionInputs, { lambda, k }: MarginalRelevanceOptions): Selection {
  assertSelection(inputs, lambda, k);
  const [batch, count] = inputs.relevance.shape;
  return scoped('maximalMarginalRelevance', () => {
    const slots: tf.Tensor2D[] = [tf.zeros([batch, 0], 'int32')];
    const scores: tf.Tensor2D[] = [tf.zeros([batch, 0])];
    let remaining: Remaining = { left: inputs.mask, redundancy: tf.zeros([batch, count]) };
    for (let i = 0; i < Math.min(k, count); i++) {
      const { slot, score, ...rest } = scoped('take', () => take(inputs, remaining, lambda, i === 0));
      slots.push(slot);
      scores.push(score);
      remaining = rest;
    }
    const missing: [number, number] = [batch, Math.max(0, k - count)];
    slots.push(tf.fill(missing, -1, 'int32'));
    scores.push(tf.zeros(missing));
    return { slots: tf.concat(slots, 1), scores: tf.concat(scores, 1) };
  });
}
