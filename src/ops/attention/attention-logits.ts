import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import type { RingAttentionOptions } from './options.ts';

/** The options that map similarity and distance to a logit. */
export type LogitOptions = Pick<RingAttentionOptions, 'combine' | 'decay' | 'temperature'>;

/**
 * `exp(-decay d) (1 + cos) / 2 / temperature` (multiplicative) or `(1 + cos) / 2 / temperature - decay d` (additive), elementwise.
 *
 * @param cosine of any shape
 * @param distance of the same shape, or one that broadcasts to it
 */
export function attentionLogits<T extends tf.Tensor>(cosine: T, distance: tf.Tensor, options: LogitOptions): T {
  const { combine, decay: distanceDecay, temperature } = options;
  return scoped('attentionLogits', () => {
    const semantic = tf.mul(tf.add(cosine, 1), 0.5 / temperature);
    return combine === 'multiplicative'
      ? tf.mul(semantic, tf.exp(tf.mul(distance, -distanceDecay)))
      : tf.sub(semantic, tf.mul(distance, distanceDecay));
  });
}
