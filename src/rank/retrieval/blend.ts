import * as tf from '@tensorflow/tfjs-core';
import { assertShape } from '../../core/tensors/rows.ts';
import { invertOrZero, scoped } from '../../core/tensors/scope.ts';

/**
 * Each row divided by its largest value; a row without a positive value, or with subnormal ones alone, becomes 0. Keeps
 * the order within a row and makes rows comparable.
 */
export function divideScoresByRowMaximum(scores: tf.Tensor2D): tf.Tensor2D {
  assertShape('scores', scores, 'B C');
  // One quotient a row: wasm takes ten times as long for one a score.
  return scoped('divideScoresByRowMaximum', () => tf.mul(scores, invertOrZero(tf.max(scores, 1, true))));
}

/**
 * `(1 - weight) base / max(base) + weight signal / max(signal)`, the maxima taken over each query's candidates.
 *
 * @param base [B, C], not negative
 * @param signal [B, C], not negative
 * @param weight in [0, 1]
 * @returns [B, C]
 */
export function blendScores(base: tf.Tensor2D, signal: tf.Tensor2D, weight: number): tf.Tensor2D {
  const sizes = assertShape('base', base, 'B C');
  assertShape('signal', signal, 'B C', sizes);
  return scoped('blend', () =>
    tf.add(tf.mul(divideScoresByRowMaximum(base), 1 - weight), tf.mul(divideScoresByRowMaximum(signal), weight)),
  );
}
