import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { pairwiseTrajectoryDistance } from '../trajectory/trajectory-distance.ts';
import { displayAttention } from './attention-display.ts';
import { attentionLogits, maskedSoftmax, type RingAttentionOptions } from './options.ts';
import { type Attention, type AttentionInputs, assertAttentionInputs, computeCosines } from './ring-attention.ts';
import { buildRingGeometry, computeAdmissibleKeys, type RingGeometry } from './ring-geometry.ts';

/** Ring attention has a position for each turn, trajectory attention has coordinates too. M coordinates. */
export interface TrajectoryAttentionInputs extends AttentionInputs {
  /** [B, M] */
  readonly queryCoordinates: tf.Tensor2D;
  /** [T, M] */
  readonly keyCoordinates: tf.Tensor2D;
  /** [M] */
  readonly coordinateWeights: tf.Tensor1D;
}

/** Trajectory attention has no topology and no direction. */
export type TrajectoryAttentionOptions = Omit<RingAttentionOptions, 'topology' | 'direction'>;

export function assertTrajectoryInputs(inputs: TrajectoryAttentionInputs): void {
  const sizes = assertAttentionInputs(inputs);
  assertShape('queryCoordinates', inputs.queryCoordinates, 'B M', sizes);
  assertShape('keyCoordinates', inputs.keyCoordinates, 'T M', sizes);
  assertShape('coordinateWeights', inputs.coordinateWeights, 'M', sizes);
}

/**
 * @param cosine [B, T]
 * @returns attention weights, [B, T]
 */
export function computeTrajectoryWeights(
  cosine: tf.Tensor2D,
  geometry: RingGeometry,
  inputs: TrajectoryAttentionInputs,
  options: TrajectoryAttentionOptions,
): tf.Tensor2D {
  return scoped('computeTrajectoryWeights', () => {
    const distance = pairwiseTrajectoryDistance(
      inputs.queryCoordinates,
      inputs.keyCoordinates,
      inputs.coordinateWeights,
    );
    const admissible = computeAdmissibleKeys(geometry, { direction: 'none', self: options.self });
    const mask = inputs.mask === undefined ? admissible : tf.logicalAnd<tf.Tensor2D>(admissible, inputs.mask);
    return maskedSoftmax(attentionLogits(cosine, distance, options), mask);
  });
}

/**
 * TPO: the weights of ring attention with the trajectory distance instead of the ring distance (section 4.2.4 of diomande2026ragpp). Positions only say which key
 * is the query's own.
 *
 * @throws DimensionMismatchError, ValidationError for inputs that don't fit.
 */
export function trajectoryAttention(inputs: TrajectoryAttentionInputs, options: TrajectoryAttentionOptions): Attention {
  assertTrajectoryInputs(inputs);
  const attention = scoped('trajectoryAttention', () => {
    const geometry = buildRingGeometry(inputs.queryPositions, inputs.keyPositions, inputs.ringSize);
    const weights = computeTrajectoryWeights(computeCosines(inputs.queries, inputs.keys), geometry, inputs, options);
    return { weights, output: matmul(weights, inputs.values) };
  });
  return displayAttention(attention);
}
