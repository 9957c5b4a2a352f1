import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../core/scope.ts';
import { assertShape } from '../core/shapes.ts';

/** Below every logit that occurs, and finite, since softmax of a row of -infinity is NaN. */
export const MASKED = -1e30;

/**
 * Softmax of each row over its admissible places; a row without any is all zeros.
 *
 * @param logits [B, T]
 * @param mask bool [B, T]
 * @returns [B, T]
 */
export function maskedSoftmax(logits: tf.Tensor2D, mask: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('logits', logits, 'B T');
  assertShape('mask', mask, 'B T', sizes);
  return scoped('maskedSoftmax', () => {
    const masked = tf.where(mask, logits, MASKED);
    const powers = tf.mul(tf.exp(tf.sub(masked, tf.max(masked, 1, true))), tf.cast(mask, 'float32'));
    return tf.divNoNan(powers, tf.sum(powers, 1, true)) as tf.Tensor2D;
  });
}
