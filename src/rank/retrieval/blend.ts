import * as tf from '@tensorflow/tfjs-core';
import { assertShape } from '../../core/tensors/rows.ts';
import { invertOrZero, SMALLEST_NORMAL, scoped } from '../../core/tensors/scope.ts';
import type { Column } from '../signals/stage.ts';

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

/** Scores times a column, on the host. */
export function multiplyOnHost(scores: Column, column: Column): Column {
  const products = new Float32Array(scores.length);
  for (let pair = 0; pair < scores.length; pair++) products[pair] = (scores[pair] as number) * (column[pair] as number);
  return products;
}

/** {@link divideScoresByRowMaximum} on the host, with the bits of `wasm`. @param scores row-major [B, C] */
export function divideOnHost(scores: Column, width: number): Column {
  const divided = new Float32Array(scores.length);
  for (let start = 0; start < scores.length; start += width) {
    let most = Number.NEGATIVE_INFINITY;
    for (let pair = start; pair < start + width; pair++) most = Math.max(most, scores[pair] as number);
    const inverse = most > SMALLEST_NORMAL ? Math.fround(1 / most) : 0;
    for (let pair = start; pair < start + width; pair++) divided[pair] = (scores[pair] as number) * inverse;
  }
  return divided;
}

/** `(1 - weight) base + weight other`, on the host. */
export function mixOnHost(base: Column, other: Column, weight: number): Column {
  const [rest, share] = [Math.fround(1 - weight), Math.fround(weight)];
  const mixed = new Float32Array(base.length);
  for (let pair = 0; pair < base.length; pair++)
    mixed[pair] = Math.fround((base[pair] as number) * rest) + Math.fround((other[pair] as number) * share);
  return mixed;
}
