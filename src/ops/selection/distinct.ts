import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { diversityFilter } from './diversity-filter.ts';
import type { SelectionInputs } from './selection.ts';

/**
 * The candidates without near copies: from the best score down, each whose similarity to all that were kept before is below a threshold. O(B C^2).
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
