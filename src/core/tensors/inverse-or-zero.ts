import * as tf from '@tensorflow/tfjs-core';
import { scoped } from './scope.ts';

/** The smallest normal number of float32. The inverse of a smaller one may be infinite, and 0 times that is no number. */
const SMALLEST_NORMAL = 2 ** -126;

/** 1 / x, and 0 where x is not positive or smaller than float32's smallest normal number. Any shape. */
export function invertOrZero<T extends tf.Tensor>(x: T): T {
  return scoped('invertOrZero', () => {
    const isNormal = tf.step(tf.sub(x, SMALLEST_NORMAL));
    return tf.divNoNan(1, tf.mul(tf.relu(x), isNormal)) as T;
  });
}
