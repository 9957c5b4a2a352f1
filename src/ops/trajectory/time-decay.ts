import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';

const MILLISECONDS_PER_HOUR = 3_600_000;

/**
 * Ages of candidates at their query's time, subtracted in float64: in float32, two times of today differ by minutes.
 *
 * @param timestamps [N] milliseconds of the corpus's turns
 * @param moments [B] milliseconds of the queries
 * @param positions row-major [B, C] of the candidates, -1 for padding
 * @returns row-major [B, C] in hours, 0 for padding
 */
export function computeAgesHours(timestamps: Float64Array, moments: Float64Array, positions: Int32Array): Float32Array {
  const width = moments.length === 0 ? 0 : positions.length / moments.length;
  const ages = new Float32Array(positions.length);
  for (let pair = 0; pair < positions.length; pair++) {
    const position = positions[pair] as number;
    if (position < 0) continue;
    const moment = moments[Math.floor(pair / width)] as number;
    ages[pair] = (moment - (timestamps[position] as number)) / MILLISECONDS_PER_HOUR;
  }
  return ages;
}

/**
 * `0.5^(age / halfLife)`.
 *
 * @param ages [B, C] in the unit of the half-life
 * @returns [B, C]
 * @throws ValidationError for a half-life that is not positive.
 */
export function timeDecay(ages: tf.Tensor2D, halfLife: number): tf.Tensor2D {
  assertShape('ages', ages, 'B C');
  if (!(halfLife > 0))
    throw new ValidationError(`half-life is not positive: ${halfLife}; pass a number above 0`, { halfLife });
  return scoped('timeDecay', () => tf.exp(tf.mul(ages, -Math.LN2 / halfLife)));
}
