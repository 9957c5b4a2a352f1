import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { scoped } from '../../core/tensors/scope.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { MASKED } from '../attention/options.ts';
import {
  assertSelection,
  DEFAULT_LAMBDA,
  duplicateAbove,
  gatherAtSlots,
  type Selection,
  type SelectionInputs,
  selectedCount,
} from './selection.ts';

/** The condition for a candidate to be taken beside those that were taken before it. */
export interface DiversityFilterOptions {
  /** Weight of the score in the marginal relevance, in [0, 1]. */
  readonly lambda: number;
  /** A candidate is taken when its marginal relevance is above this, */
  readonly marginalAbove: number;
  /** or its score above this. */
  readonly scoreAbove: number;
  /** K, the most to take. */
  readonly k: number;
}

/** A candidate is taken with a marginal relevance above .3 or a score above .9. */
export const DIVERSITY_FILTER_DEFAULTS: Omit<DiversityFilterOptions, 'k'> = freezeDeeply({
  lambda: DEFAULT_LAMBDA,
  marginalAbove: 0.3,
  scoreAbove: 0.9,
});

const options = z.strictObject({
  method: z.literal('diversity-filter'),
  k: selectedCount,
  duplicateAbove,
  lambda: z.number().min(0).max(1).default(DIVERSITY_FILTER_DEFAULTS.lambda),
  /** Either is enough to be taken. */
  marginalAbove: z.number().default(DIVERSITY_FILTER_DEFAULTS.marginalAbove),
  scoreAbove: z.number().default(DIVERSITY_FILTER_DEFAULTS.scoreAbove),
});

export const diversity = {
  options,
  description: 'from the best score down, the first candidate and each that is either new enough or good enough',
};

/** Candidates from the best score down, padding last. */
interface Ordered {
  /** [B, C] */
  readonly scores: tf.Tensor2D;
  /** int32 [B, C] */
  readonly slots: tf.Tensor2D;
}

/** Judges the i-th of each query's ordered candidates, given those taken so far, bool [B, C] by slot. */
function judge(
  { similarities }: SelectionInputs,
  { scores, slots }: Ordered,
  taken: tf.Tensor2D,
  { lambda, marginalAbove, scoreAbove }: DiversityFilterOptions,
  i: number,
): { accepted: tf.Tensor2D; taken: tf.Tensor2D } {
  const [batch, count] = scores.shape;
  const score = tf.slice(scores, [0, i], [batch, 1]);
  const slot = tf.slice(slots, [0, i], [batch, 1]);
  const similarity = tf.squeeze(gatherAtSlots(similarities, slot), [1]); // [B, C]
  const redundancy = tf.max(tf.where(taken, similarity, MASKED), 1, true); // [B, 1]
  const marginal = tf.sub(tf.mul(score, lambda), tf.mul(redundancy, 1 - lambda));
  const good = tf.logicalOr(tf.greater(marginal, marginalAbove), tf.greater(score, scoreAbove));
  const present = tf.greater(score, MASKED / 2);
  const accepted = (i === 0 ? present : tf.logicalAnd(present, good)) as tf.Tensor2D;
  const own = tf.equal(tf.range(0, count, 1, 'int32'), slot); // [B, C]
  return { accepted, taken: tf.logicalOr(taken, tf.logicalAnd(own, accepted)) as tf.Tensor2D };
}

/**
 * Goes through each query's candidates from the best score down and takes the first, and then each whose marginal relevance
 * `lambda score - (1 - lambda) max_s similarity(candidate, s)` over those taken, s, is high enough, or whose score alone is, up to K. Unlike maximal marginal
 * relevance it keeps the order of the scores and may take fewer. Equal scores are in the order of their slots. C
 * batches of operations over [B, C].
 *
 * @returns the slots taken and their scores (not the marginal ones)
 * @throws ValidationError for a lambda outside [0, 1] or a k that is no positive integer.
 */
export function diversityFilter(inputs: SelectionInputs, options: DiversityFilterOptions): Selection {
  const { relevance, mask } = inputs;
  const { k } = options;
  assertSelection(inputs, options.lambda, k);
  const [batch, count] = relevance.shape;
  return scoped('diversityFilter', () => {
    if (count === 0)
      return { slots: tf.fill([batch, k], -1, 'int32') as tf.Tensor2D, scores: tf.zeros([batch, k]) as tf.Tensor2D };
    const { values, indices } = tf.topk(tf.where(mask, relevance, MASKED), count);
    const ordered = { scores: values, slots: indices } as Ordered;
    const verdicts: tf.Tensor2D[] = [];
    let taken: tf.Tensor2D = tf.zeros([batch, count], 'bool');
    for (let i = 0; i < count; i++) {
      const judged = scoped('judge', () => judge(inputs, ordered, taken, options, i));
      verdicts.push(judged.accepted);
      taken = judged.taken;
    }
    return selectFirstAccepted(ordered, tf.concat(verdicts, 1), k);
  });
}

/** The first K accepted of ordered candidates. */
function selectFirstAccepted({ scores, slots }: Ordered, accepted: tf.Tensor2D, k: number): Selection {
  const [batch, count] = scores.shape;
  // C for the best down to 1, and 0 for candidates that were not taken.
  const ranks = tf.mul(tf.range(count, 0, -1), tf.cast(accepted, 'float32'));
  const { values, indices } = tf.topk(ranks as tf.Tensor2D, Math.min(k, count));
  const some = tf.greater(values, 0);
  const missing: [number, number] = [batch, Math.max(0, k - count)];
  const takenSlots = tf.where<tf.Tensor>(some, gatherAtSlots(slots, indices as tf.Tensor2D), tf.scalar(-1, 'int32'));
  const takenScores = tf.where(some, gatherAtSlots(scores, indices as tf.Tensor2D), 0);
  return {
    slots: tf.concat([takenSlots, tf.fill(missing, -1, 'int32')], 1) as tf.Tensor2D,
    scores: tf.concat([takenScores, tf.zeros(missing)], 1) as tf.Tensor2D,
  };
}

/**
 * The candidates without near copies: from the best score down, each whose similarity to all that were kept before is
 * below a threshold. O(B C^2).
 *
 * @param threshold cosine from which the candidate with the lower score is a duplicate.
 * @returns bool [B, C], false for duplicates and for padding.
 */
export function markDistinct(inputs: SelectionInputs, threshold: number): tf.Tensor2D {
  const count = inputs.relevance.shape[1];
  return scoped('markDistinct', () => {
    if (count === 0) return tf.clone(inputs.mask);
    // A marginal relevance without relevance is minus the largest similarity.
    const options = { lambda: 0, marginalAbove: -threshold, scoreAbove: Number.POSITIVE_INFINITY, k: count };
    const { slots } = diversityFilter(inputs, options); // [B, C]
    const candidates = tf.expandDims(tf.range(0, count, 1, 'int32'), 1); // [C, 1]
    // Over the last axis: WebGPU does not compile the transposition of booleans.
    return tf.any(tf.equal(tf.expandDims(slots, 1), candidates), 2) as tf.Tensor2D;
  });
}
