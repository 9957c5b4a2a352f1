import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { matmul, normaliseRows } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';

/** More terms than this are summed in float64 on the host, see `computeConservationMetrics`. */
export const MAX_TENSOR_RECORDS = 10_000;
/** The smallest normal float32: replaces 0 under a logarithm, whose factor is then 0. */
const TINY = 1.1754944e-38;

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
  if (count > MAX_TENSOR_RECORDS)
    throw new ValidationError(
      `${count} records are more than ${MAX_TENSOR_RECORDS}, the limit of a float32 sum; use conservationMetrics`,
      { count },
    );
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
