import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { invertOrZero, scoped } from '../../core/tensors/scope.ts';
import { MASKED } from '../../ops/attention/options.ts';
import { assertSelection, type Selection, type SelectionInputs } from '../../ops/selection/selection.ts';

/** The weight of the column against relevance, in [0, 1], and the most to take. */
export interface ColumnRerankingOptions {
  readonly weight: number;
  /** K, the places to fill. */
  readonly k: number;
}

/** Each row divided by its largest value; 0 where no value is above 0. */
function divideByLargest(values: tf.Tensor2D, mask: tf.Tensor2D): tf.Tensor2D {
  const present: tf.Tensor2D = tf.where(mask, values, 0);
  return tf.mul(present, invertOrZero(tf.max(present, 1, true)));
}

/**
 * Takes the K candidates with the greatest `(1 - weight) relevance / max(relevance) + weight column / max(column)`, the maxima taken over each query's candidates.
 * Equal scores keep the order of their places. O(B C log K).
 *
 * @throws ValidationError without a column, for a weight outside [0, 1] and for a k that is no positive integer; DimensionMismatchError.
 */
export function rerankByColumn(inputs: SelectionInputs, { weight, k }: ColumnRerankingOptions): Selection {
  const { relevance, mask, column } = inputs;
  assertSelection(inputs, 1, k);
  if (!(weight >= 0 && weight <= 1))
    throw new ValidationError(`weight is outside [0, 1]: ${weight}; pass a number in [0, 1]`, { weight });
  if (column === undefined) throw new ValidationError('reranking has no column; pass column with the inputs');
  assertShape('column', column, 'B C', assertShape('relevance', relevance, 'B C'));
  const [batch, count] = relevance.shape;
  return scoped('rerankByColumn', () => {
    const missing: [number, number] = [batch, Math.max(0, k - count)];
    const padding = tf.fill(missing, -1, 'int32') as tf.Tensor2D;
    if (count === 0) return { slots: padding, scores: tf.zeros(missing) };
    const mixed = tf.add(
      tf.mul(divideByLargest(relevance, mask), 1 - weight),
      tf.mul(divideByLargest(column, mask), weight),
    );
    const { values, indices } = tf.topk(tf.where(mask, mixed, MASKED) as tf.Tensor2D, Math.min(k, count));
    const some = tf.greater(values, MASKED / 2);
    const slots = tf.where<tf.Tensor>(some, indices, tf.scalar(-1, 'int32')) as tf.Tensor2D;
    return {
      slots: tf.concat([slots, padding], 1),
      scores: tf.concat([tf.where(some, values, 0), tf.zeros(missing)], 1),
    };
  });
}
