import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { assertShape } from '../../core/tensors/shapes.ts';
import { MASKED } from './logit-terms.ts';

/**
 * Softmax of each row over its admissible places; a row without any is all zeros.
 *
 * @param logits [B, T] finite, also where they are masked
 * @param mask bool [B, T]
 * @returns [B, T]
 */
export function maskedSoftmax(logits: tf.Tensor2D, mask: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('logits', logits, 'B T');
  assertShape('mask', mask, 'B T', sizes);
  return scoped('maskedSoftmax', () => {
    const kept: tf.Tensor2D = tf.cast(mask, 'float32');
    // By arithmetic: on wasm a conditional, or a quotient that handles zeros, takes several times as long.
    const masked: tf.Tensor2D = tf.sub(tf.mul(logits, kept), tf.mul(tf.sub(kept, 1), MASKED));
    const powers: tf.Tensor2D = tf.mul(tf.exp(tf.sub(masked, tf.max(masked, 1, true))), kept);
    return tf.div(powers, tf.maximum(tf.sum(powers, 1, true), 1)); // the largest power is 1, and a row without any has sum 0
  });
}
