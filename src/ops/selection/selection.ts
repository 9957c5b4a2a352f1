import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { batchedMatmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';

/** The implementation of a selection. Pure and synchronous, as {@link Selection} describes. */
export type Select<Options> = (inputs: SelectionInputs, options: Options) => Selection;

/** The number of the best scored candidates that a selection reorders, an option of every selection. */
export const selectedCount = z.int().min(1).default(50);

/** The cosine from which two memories count as one in the design of memories. */
export const DUPLICATE_COSINE = 0.85;

/**
 * An option of selections by similarity: nothing this near to a better candidate is taken. Absent: no duplicates, and
 * hashes of configs stay.
 */
export const duplicateAbove = z.number().min(-1).max(1).optional();

/** The default weight of relevance against novelty. */
export const DEFAULT_LAMBDA = 0.7;

/** Candidates of B queries, C each, from which slots are taken. */
export interface SelectionInputs {
  /** [B, C] finite scores. */
  readonly relevance: tf.Tensor2D;
  /** [B, C, C] among a query's candidates, see {@link computeSimilarities}. */
  readonly similarities: tf.Tensor3D;
  /** bool [B, C], false for padding. */
  readonly mask: tf.Tensor2D;
  /** [B, C] not negative: what a reranking by a column orders by. */
  readonly column?: tf.Tensor2D;
}

/** The candidates that were taken, in the order in which they were taken. */
export interface Selection extends tf.NamedTensorMap {
  /** int32 [B, K] slots among the candidates in the order in which they were taken, -1 if there are no more. */
  readonly slots: tf.Tensor2D;
  /** [B, K] the score by which each was taken, 0 if there is none. */
  readonly scores: tf.Tensor2D;
}

/**
 * Checks the inputs of every selection.
 *
 * @throws DimensionMismatchError for shapes that do not fit, ValidationError for a lambda outside [0, 1] or a k that is no positive integer.
 */
export function assertSelection({ relevance, similarities, mask }: SelectionInputs, lambda: number, k: number): void {
  const sizes = assertShape('relevance', relevance, 'B C');
  assertShape('similarities', similarities, 'B C C', sizes);
  assertShape('mask', mask, 'B C', sizes);
  if (!(lambda >= 0 && lambda <= 1))
    throw new ValidationError(`lambda is outside [0, 1]: ${lambda}; pass a number in [0, 1]`, { lambda });
  if (!Number.isInteger(k) || k < 1)
    throw new ValidationError(`k is not a positive integer: ${k}; pass a whole number from 1`, { k });
}

/**
 * Cosines among each query's candidates, 0 with a zero vector. O(B C^2 D).
 *
 * @param embeddings [B, C, D] of any length
 * @returns [B, C, C]
 */
export function computeSimilarities(embeddings: tf.Tensor3D): tf.Tensor3D {
  assertShape('embeddings', embeddings, 'B C D');
  return scoped('computeSimilarities', () => {
    const lengths = tf.sqrt(tf.sum(tf.square(embeddings), 2, true)); // [B, C, 1]
    const directions: tf.Tensor3D = tf.mul(embeddings, tf.divNoNan(1, lengths)); // wasm divides [B, C, D] 30 times slower than it multiplies
    return batchedMatmul(directions, tf.transpose(directions, [0, 2, 1]));
  });
}

/**
 * Of each query's row, or slice, the one at its own slot.
 *
 * @param values [B, C] or [B, C, C]
 * @param slots int32 [B, K]
 * @returns [B, K] or [B, K, C]
 */
export function gatherAtSlots<T extends tf.Tensor>(values: T, slots: tf.Tensor2D): T {
  const [batch = 0, count = 0, ...rest] = values.shape;
  return scoped('gatherAtSlots', () => {
    const starts = tf.mul(tf.range(0, batch, 1, 'int32'), tf.scalar(count, 'int32')); // [B]
    return tf.gather(tf.reshape(values, [-1, ...rest]), tf.add(tf.expandDims(starts, 1), slots));
  }) as T;
}
