import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { matmul, normaliseRows } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';

/** More terms than this are summed in float64 on the host, see `computeConservationMetrics`. */
export const MAX_TENSOR_RECORDS = 10_000;
/** The smallest normal float32: replaces 0 under a logarithm, whose factor is then 0. */
const TINY = 1.1754944e-38;

/** @throws ValidationError for more records than float32 sums keep. */
function assertSummable(count: number): void {
  if (count > MAX_TENSOR_RECORDS)
    throw new ValidationError(
      `${count} records are more than ${MAX_TENSOR_RECORDS}, the limit of a float32 sum; use computeConservationMetrics`,
      { count },
    );
}

/** Scalars; coherence is twice the energy. */
export interface ConservationTensors extends tf.NamedTensorMap {
  readonly magnitude: tf.Scalar;
  readonly energy: tf.Scalar;
  /** In nats. */
  readonly information: tf.Scalar;
}

/**
 * The conservation metrics (definition 4.5 of diomande2026ragpp) of up to 10,000 records that are on the device already, in float32 and O(T D).
 * `computeConservationMetrics` is the same in float64 on the host for any number of records, and checks the salience.
 *
 * @param embeddings [T, D]; a zero row has length 0 and no direction
 * @param salience [T] finite and not negative; normalised here. All three figures are 0 where it is 0 throughout.
 * @throws ValidationError for more than 10,000 records.
 */
export function computeConservationTensors(embeddings: tf.Tensor2D, salience: tf.Tensor1D): ConservationTensors {
  const sizes = assertShape('embeddings', embeddings, 'T D');
  assertShape('salience', salience, 'T', sizes);
  const { T: count = 0 } = sizes;
  assertSummable(count);
  return scoped('computeConservationTensors', () => {
    if (count === 0) return { magnitude: tf.scalar(0), energy: tf.scalar(0), information: tf.scalar(0) }; // on wasm the sum of no terms is undefined
    const shares: tf.Tensor1D = tf.divNoNan(salience, tf.sum(salience)); // [T]
    const lengths = tf.sqrt(tf.sum(tf.square(embeddings), 1)); // [T]
    const direction = matmul(tf.expandDims(shares, 0) as tf.Tensor2D, normaliseRows(embeddings)); // [1, D]
    return {
      magnitude: tf.sum(tf.mul(shares, lengths)) as tf.Scalar,
      energy: tf.mul(tf.sum(tf.square(direction)), 0.5) as tf.Scalar,
      information: tf.sub(0, tf.sum(tf.mul(shares, tf.log(tf.maximum(shares, TINY))))) as tf.Scalar,
    };
  });
}

/**
 * The conservation metrics (definition 4.5 of diomande2026ragpp) of B sets of up to K records each, such as the turns
 * that B queries were shown, in float32 and O(B K D). `computeConservationMetrics` is the same for one set in float64
 * on the host, and checks the salience.
 *
 * @param embeddings [B, K, D]; a zero row has length 0 and no direction
 * @param salience [B, K] finite and not negative; normalised here for each set. 0 is padding, and all figures of a set
 *   are 0 where it is 0 throughout.
 * @returns [B, 3] magnitude, energy, and information in nats
 * @throws ValidationError for sets of more than 10,000 records.
 */
export function computeSetConservation(embeddings: tf.Tensor3D, salience: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('embeddings', embeddings, 'B K D');
  assertShape('salience', salience, 'B K', sizes);
  const { B: sets = 0, K: count = 0 } = sizes;
  assertSummable(count);
  return scoped('computeSetConservation', () => {
    if (sets === 0 || count === 0) return tf.zeros([sets, 3]);
    const shares = tf.mul(salience, tf.divNoNan(1, tf.sum(salience, 1, true))); // [B, K]
    const lengths = tf.sqrt(tf.sum(tf.square(embeddings), 2)); // [B, K]
    const weights = tf.mul(shares, tf.divNoNan(1, lengths)); // [B, K]
    const directions = tf.sum(tf.mul(embeddings, tf.expandDims(weights, 2)), 1); // [B, D]
    const magnitude = tf.sum(tf.mul(shares, lengths), 1, true);
    const energy = tf.mul(tf.sum(tf.square(directions), 1, true), 0.5);
    const information = tf.sub(0, tf.sum(tf.mul(shares, tf.log(tf.maximum(shares, TINY))), 1, true));
    return tf.concat([magnitude, energy, information], 1) as tf.Tensor2D;
  });
}
