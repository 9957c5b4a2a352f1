import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { COORDINATES, type Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';

/** Pairs of queries and candidates in the frame of the candidate's conversation. */
export interface TrajectoryPairs {
  /** [B, C, M] */
  readonly candidates: tf.Tensor3D;
  /** [B, C, M] */
  readonly queries: tf.Tensor3D;
  /** bool [B, C]: the conversation is too short for an informative shape. */
  readonly coldStart: tf.Tensor2D;
  readonly dimensions: Dimensions;
}

/**
 * Distances from candidates to their query; at a cold start that of the temporal coordinate alone (section 7.2 of diomande2026ragpp).
 *
 * @param weights [M]
 * @returns [B, C]
 */
export function computeTrajectoryDistances(pairs: TrajectoryPairs, weights: tf.Tensor1D): tf.Tensor2D {
  const sizes = assertShape('coldStart', pairs.coldStart, 'B C', { M: pairs.dimensions });
  assertShape('candidates', pairs.candidates, 'B C M', sizes);
  assertShape('weights', weights, 'M', sizes);
  return scoped('computeTrajectoryDistances', () => {
    const { candidates, queries, coldStart, dimensions } = pairs;
    const temporal = COORDINATES[dimensions].map((name) => (name === 'temporal' ? 1 : 0));
    const inTime = trajectoryDistance(candidates, queries, tf.mul(weights, tf.tensor1d(temporal)));
    const inAll = trajectoryDistance(candidates, queries, weights);
    const isCold = tf.cast(coldStart, 'float32'); // [B, C]
    return tf.add(tf.mul(isCold, inTime), tf.mul(tf.sub(1, isCold), inAll)); // wasm takes longer for a choice
  });
}

/**
 * `exp(-D_traj / sigma)`, in (0, 1].
 *
 * @param distances [B, C] of {@link computeTrajectoryDistances}
 * @returns [B, C]
 * @throws ValidationError for a sigma that is not positive.
 */
export function trajectoryScore(distances: tf.Tensor2D, sigma: number): tf.Tensor2D {
  assertShape('distances', distances, 'B C');
  if (!(sigma > 0)) throw new ValidationError(`sigma is not positive: ${sigma}; pass a number above 0`, { sigma });
  return scoped('trajectoryScore', () => tf.exp(tf.mul(distances, -1 / sigma)));
}

/**
 * `alpha semantic + (1 - alpha) trajectory` with alpha = 1 - trajectoryWeight.
 *
 * @param semantic [B, C]
 * @param trajectory [B, C]
 * @param trajectoryWeight in [0, 1]
 * @returns [B, C]
 * @throws ValidationError for a weight outside [0, 1].
 */
export function blendTrajectory(semantic: tf.Tensor2D, trajectory: tf.Tensor2D, trajectoryWeight: number): tf.Tensor2D {
  const sizes = assertShape('semantic', semantic, 'B C');
  assertShape('trajectory', trajectory, 'B C', sizes);
  if (!(trajectoryWeight >= 0 && trajectoryWeight <= 1))
    throw new ValidationError(`trajectoryWeight is outside [0, 1]: ${trajectoryWeight}; pass a number in [0, 1]`, {
      trajectoryWeight,
    });
  return scoped('blendTrajectory', () =>
    tf.add(tf.mul(semantic, 1 - trajectoryWeight), tf.mul(trajectory, trajectoryWeight)),
  );
}
