import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import type { RingAttentionOptions } from './options.ts';

/** The positions of a conversation's first turns in an order other than time. */
export interface TurnRingPositions {
  /** [size] the position of each turn, turns in time order. */
  readonly ringPositionOf: Int32Array;
  /** [size] the turn at each position: the inverse. */
  readonly turnAt: Int32Array;
}

/** An order of a conversation's turns at the time when it had `size` turns. Later turns must not affect the order. */
export type TurnOrder = (conversation: number, size: number) => TurnRingPositions;

/** The positions of queries and keys. Positions are float32 columns and rows here, so that they broadcast to [B, T]. */
export interface RingGeometry {
  /** [B, 1] */
  readonly queryPositions: tf.Tensor2D;
  /** [1, T]; [B, T] if the keys have other positions for each query. */
  readonly keyPositions: tf.Tensor2D;
  /** Turns on the ring; [B, 1] where queries stand on rings of different sizes. */
  readonly ringSize: number | tf.Tensor2D;
}

/**
 * @param queryPositions int32 [B]
 * @param keyPositions int32 [T]
 * @param ringSize of all queries, or [B]
 */
export function buildRingGeometry(
  queryPositions: tf.Tensor1D,
  keyPositions: tf.Tensor1D,
  ringSize: number | tf.Tensor1D,
): RingGeometry {
  const castToColumn = (positions: tf.Tensor1D): tf.Tensor2D => tf.expandDims(tf.cast(positions, 'float32'), 1);
  return {
    queryPositions: castToColumn(queryPositions),
    keyPositions: tf.expandDims(tf.cast(keyPositions, 'float32'), 0),
    ringSize: typeof ringSize === 'number' ? ringSize : castToColumn(ringSize),
  };
}

/** `min(|p_i - p_j|, n - |p_i - p_j|)` on a ring, `|p_i - p_j|` on a line; [B, T]. */
export function computePositionDistances(
  geometry: RingGeometry,
  topology: RingAttentionOptions['topology'],
): tf.Tensor2D {
  const { queryPositions, keyPositions, ringSize } = geometry;
  return scoped('computePositionDistances', () => {
    const steps: tf.Tensor2D = tf.abs(tf.sub(queryPositions, keyPositions));
    return topology === 'line' ? steps : tf.minimum(steps, tf.sub(ringSize, steps));
  });
}

/** Which keys a query may see, bool [B, T]. */
export function computeAdmissibleKeys(
  { queryPositions, keyPositions }: RingGeometry,
  { direction, self }: Pick<RingAttentionOptions, 'direction' | 'self'>,
): tf.Tensor2D {
  return scoped('computeAdmissibleKeys', () => {
    const ordered: tf.Tensor2D =
      direction === 'none'
        ? tf.ones([queryPositions.shape[0], keyPositions.shape[1]], 'bool')
        : direction === 'causal'
          ? tf.lessEqual(keyPositions, queryPositions)
          : tf.greaterEqual(keyPositions, queryPositions);
    return self === 'include' ? ordered : tf.logicalAnd(ordered, tf.notEqual(keyPositions, queryPositions));
  });
}
