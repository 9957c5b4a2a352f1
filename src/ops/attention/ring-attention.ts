import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { matmul, matmulTransposed, normaliseRows } from '../../core/tensors/matmul.ts';
import { assertShape, type Sizes } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { displayAttention } from './attention-display.ts';
import { attentionLogits, maskedSoftmax, type RingAttentionOptions } from './options.ts';
import {
  buildRingGeometry,
  computeAdmissibleKeys,
  computePositionDistances,
  type RingGeometry,
} from './ring-geometry.ts';

/** B turns that ask, T turns that answer, V the width of the values. */
export interface AttentionInputs {
  /** [B, D] */
  readonly queries: tf.Tensor2D;
  /** [T, D] */
  readonly keys: tf.Tensor2D;
  /** [T, V] */
  readonly values: tf.Tensor2D;
  /** int32 [B], each in 0 … ringSize - 1. */
  readonly queryPositions: tf.Tensor1D;
  /** int32 [T], each in 0 … ringSize - 1. */
  readonly keyPositions: tf.Tensor1D;
  readonly ringSize: number;
  /** bool [B, T]: keys that are admissible at all; absent, all of them. */
  readonly mask?: tf.Tensor2D;
}

/** What ring attention of B queries over T keys gives: weights, and outputs of dimension V. */
export interface Attention extends tf.NamedTensorMap {
  /** [B, T]; rows sum to 1, or are all zeros if no key is admissible. */
  weights: tf.Tensor2D;
  /** [B, V] */
  output: tf.Tensor2D;
}

/** @throws DimensionMismatchError for shapes that don't fit, ValidationError for positions that are not int32 or a mask that is not bool. */
export function assertAttentionInputs(inputs: AttentionInputs): Sizes {
  const sizes = assertShape('queries', inputs.queries, 'B D');
  assertShape('keys', inputs.keys, 'T D', sizes);
  assertShape('values', inputs.values, 'T V', sizes);
  assertShape('queryPositions', inputs.queryPositions, 'B', sizes);
  assertShape('keyPositions', inputs.keyPositions, 'T', sizes);
  for (const { dtype } of [inputs.queryPositions, inputs.keyPositions])
    if (dtype !== 'int32') throw new ValidationError(`positions have dtype ${dtype}; cast them to int32`, { dtype });
  if (inputs.mask !== undefined) {
    assertShape('mask', inputs.mask, 'B T', sizes);
    if (inputs.mask.dtype !== 'bool')
      throw new ValidationError(`mask has dtype ${inputs.mask.dtype}; cast it to bool`, { dtype: inputs.mask.dtype });
  }
  return sizes;
}

/** Cosines between the rows of [B, D] and [T, D]; 0 for a zero row. */
export function computeCosines(queries: tf.Tensor2D, keys: tf.Tensor2D): tf.Tensor2D {
  return scoped('cosines', () => matmulTransposed(normaliseRows(queries), normaliseRows(keys)));
}

/**
 * Attention weights from cosines and positions.
 *
 * @param cosine [B, T]
 * @param mask bool [B, T]
 * @returns [B, T]
 */
export function computeRingAttentionWeights(
  cosine: tf.Tensor2D,
  geometry: RingGeometry,
  options: RingAttentionOptions,
  mask?: tf.Tensor2D,
): tf.Tensor2D {
  return scoped('computeRingAttentionWeights', () => {
    const logits = attentionLogits(cosine, computePositionDistances(geometry, options.topology), options);
    const admissible = computeAdmissibleKeys(geometry, options);
    return maskedSoftmax(logits, mask === undefined ? admissible : tf.logicalAnd(admissible, mask));
  });
}

/**
 * Dense ring attention, O(B T D): softmax over the keys of logits made of cosine and ring distance, and the values weighted by it. Section 4.2.3 of
 * diomande2026ragpp; `direction` none is its literal form, causal and anticausal follow its prose on RCP and IRCP.
 *
 * @throws DimensionMismatchError, ValidationError as {@link assertAttentionInputs} says.
 */
export function ringAttention(inputs: AttentionInputs, options: RingAttentionOptions): Attention {
  assertAttentionInputs(inputs);
  const attention = scoped('ringAttention', () => {
    const geometry = buildRingGeometry(inputs.queryPositions, inputs.keyPositions, inputs.ringSize);
    const weights = computeRingAttentionWeights(
      computeCosines(inputs.queries, inputs.keys),
      geometry,
      options,
      inputs.mask,
    );
    return { weights, output: matmul(weights, inputs.values) };
  });
  return displayAttention(attention);
}
