import * as tf from '@tensorflow/tfjs-core';
import { invertOrZero } from '../../core/tensors/inverse-or-zero.ts';
import { MASKED } from '../../ops/attention/logit-terms.ts';
import { withGradient, withGradients } from './with-gradient.ts';

/**
 * `e^x` for x that are not positive, as elu(x) + 1: on wasm that takes a twentieth of an exponential. Within 1e-7, which is little beside 1 but not beside a power
 * that is tiny itself.
 */
export function computePower<T extends tf.Tensor>(x: T): T {
  return withGradient(x, (given) => {
    const value: T = tf.add(tf.elu(given), 1);
    return { value, saved: [value], gradient: (dy, [power]) => tf.mul(dy, power as T) };
  });
}

/**
 * Each row divided by its largest value; a row without a positive one, or with subnormal ones alone, becomes 0. Several largest ones share the gradient.
 *
 * @param scores [B, C], not negative
 */
export function divideByRowMaximum(scores: tf.Tensor2D): tf.Tensor2D {
  return withGradient(scores, (given) => {
    const most = tf.max(given, 1, true); // [B, 1]
    const scale = invertOrZero(most); // one quotient a row: wasm is slow at them
    const value: tf.Tensor2D = tf.mul(given, scale);
    const computeStepGradient = (dy: tf.Tensor2D, saved: tf.Tensor[]) => {
      const [x, rowMost, rowScale, y] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const isMost = tf.sub(1, tf.step(tf.sub(rowMost, x))); // [B, C]
      const ofMost = tf.div(tf.sum(tf.mul(dy, y), 1, true), tf.sum(isMost, 1, true)); // [B, 1]
      return tf.mul(tf.sub(dy, tf.mul(isMost, ofMost)), rowScale);
    };
    return { value, saved: [given, most, scale, value], gradient: computeStepGradient };
  });
}

/** The sum of all, axis by axis: a float32 sum of millions of terms in one go is biased. [1] */
function sumAllAxes(x: tf.Tensor): tf.Tensor {
  return tf.reshape(
    [...x.shape.keys()].reverse().reduce((sum, axis) => tf.sum(sum, axis), x),
    [1],
  );
}

/** The inputs of multiplicative logits: `likeness e^(-decay distance) / temperature` with likeness (1 + cos) / 2. Constant, of one shape. */
interface LogitParts<T extends tf.Tensor> {
  readonly likeness: T;
  readonly distance: T;
}

function computeStepLogits<T extends tf.Tensor>(
  { likeness, distance }: LogitParts<T>,
  distanceDecay: tf.Tensor,
  temperature: tf.Tensor,
): T {
  const spatial = tf.add(tf.elu(tf.mul(distance, tf.neg(distanceDecay))), 1);
  return tf.mul(tf.mul(spatial, likeness), tf.div(1, temperature)) as T;
}

/** Slopes by decay and temperature of `sum(dl logits)`. @param weighted `dl logits` */
function computeLogitSlopes(weighted: tf.Tensor, distance: tf.Tensor, temperature: tf.Tensor): [tf.Tensor, tf.Tensor] {
  return [tf.neg(sumAllAxes(tf.mul(weighted, distance))), tf.neg(tf.div(sumAllAxes(weighted), temperature))];
}

/**
 * RCP and TPO: each candidate's share in the query's row, softmax of the logits over admissible candidates.
 *
 * @param parts [B, C]; the distance may be learned, the likeness must live until the gradient has been asked for
 * @param mask [B, C] 1 or 0; likewise
 * @param distanceDecay [1]
 * @param temperature [1]
 * @returns [B, C]
 */
export function computeCandidateShares(
  { likeness, distance }: LogitParts<tf.Tensor2D>,
  mask: tf.Tensor2D,
  distanceDecay: tf.Tensor1D,
  temperature: tf.Tensor1D,
): tf.Tensor2D {
  return withGradients([distance, distanceDecay, temperature], (d, rate, scale) => {
    const values: tf.Tensor2D = computeStepLogits({ likeness, distance: d as tf.Tensor2D }, rate, scale);
    const shares: tf.Tensor2D = tf.mul(tf.softmax(tf.sub(values, tf.mul(tf.sub(mask, 1), MASKED))), mask);
    const computeStepGradient = (dy: tf.Tensor2D, saved: tf.Tensor[]) => {
      const [p, l, steps, by, divisor] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const byLogit = tf.mul(p, tf.sub(dy, tf.sum(tf.mul(p, dy), 1, true)));
      const weighted = tf.mul(byLogit, l);
      return [tf.mul(weighted, tf.neg(by)), ...computeLogitSlopes(weighted, steps, divisor)];
    };
    return { value: shares, saved: [shares, values, d, rate, scale], gradient: computeStepGradient };
  });
}

/** The turns that candidates attend to, the query first. [B, C, K] each; all must live until the gradient is computed. */
interface SeenKeys extends LogitParts<tf.Tensor3D> {
  /** Added to the logits. */
  readonly bias: tf.Tensor3D;
}

/**
 * IRCP: the query's share in the row of each candidate, softmax over its K keys.
 *
 * @param distanceDecay [1]
 * @param temperature [1]
 * @returns [B, C]
 */
export function computeQueryShares(keys: SeenKeys, distanceDecay: tf.Tensor1D, temperature: tf.Tensor1D): tf.Tensor2D {
  const [queries, candidates, count] = keys.distance.shape;
  const pairs = queries * candidates;
  const first = Array.from({ length: count }, (_, key) => Number(key === 0));
  return withGradients([distanceDecay, temperature], (rate, scale) => {
    const values = computeStepLogits(keys, rate, scale);
    const shares = tf.softmax(tf.reshape(tf.add(values, keys.bias), [pairs, count]));
    const own = tf.matMul(shares, tf.tensor2d(first, [count, 1])); // [B C, 1]
    const computeStepGradient = (dy: tf.Tensor2D, saved: tf.Tensor[]) => {
      const [p, chosen, l, divisor] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const byShare = tf.mul(tf.reshape(dy, [pairs, 1]), chosen);
      const byLogit = tf.mul(tf.sub(tf.tensor2d(first, [1, count]), p), byShare); // [B C, K]
      return computeLogitSlopes(tf.mul(tf.reshape(byLogit, l.shape), l), keys.distance, divisor);
    };
    return {
      value: tf.reshape(own, [queries, candidates]) as tf.Tensor2D,
      saved: [shares, own, values, scale],
      gradient: computeStepGradient,
    };
  });
}
