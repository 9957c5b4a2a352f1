import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from './errors.ts';

/** What an op may return: tensors that outlive the scope, or plain values. */
export type ScopeResult = tf.TensorContainer;

/**
 * Runs `fn` and disposes every tensor it made except those it returns, also when it throws. The only caller of `tf.tidy`.
 *
 * @throws ValidationError when `fn` returns a Promise, since tfjs would hand back tensors that are already disposed.
 */
export function scoped<T extends ScopeResult>(name: string, fn: () => T): T {
  return tf.tidy(name, () => {
    const result = fn();
    if (result instanceof Promise)
      throw new ValidationError(`scope returned a promise: ${name}; pass a synchronous function`, { name });
    return result;
  });
}
