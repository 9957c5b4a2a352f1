import type { Tensor } from '@tensorflow/tfjs-core';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError, ValidationError } from '../errors/errors.ts';
import { letEventsIn } from '../terminal/progress.ts';
import { ensureBackend } from './backend.ts';

/** What an op may return: tensors that outlive the scope, or plain values. */
export type ScopeResult = tf.TensorContainer;

/** @throws UnavailableError where no backend was chosen. A synchronous function cannot load one. */
export function assertBackend(name: string): void {
  const { backendName, registryFactory } = tf.engine();
  if (!backendName && Object.keys(registryFactory).length === 0)
    throw new UnavailableError('tensor backend', `none was chosen before ${name}; call await useBackend('auto') first`);
}

/**
 * Runs `fn` and disposes every tensor it made except those it returns, also when it throws. The only caller of `tf.tidy`.
 *
 * @throws UnavailableError where no backend was chosen; ValidationError when `fn` returns a Promise, since
 * tfjs would hand back tensors that are already disposed.
 */
export function scoped<T extends ScopeResult>(name: string, fn: () => T): T {
  assertBackend(name);
  return tf.tidy(name, () => {
    const result = fn();
    if (result instanceof Promise)
      throw new ValidationError(`scope returned a promise: ${name}; pass a synchronous function`, { name });
    return result;
  });
}

/**
 * Runs `compute` in a scope, on the active backend or that of `auto`, and reads its float32 result back; no tensor
 * stays on the device. Asynchronous, since WebGPU allows nothing else in Node, and so that a computation of many
 * steps notices Ctrl-C.
 */
export async function readBack(name: string, compute: () => Tensor): Promise<Float32Array> {
  await ensureBackend();
  await letEventsIn();
  const tensor = scoped(name, compute);
  try {
    return await tensor.data<'float32'>();
  } finally {
    tensor.dispose();
  }
}

/**
 * The smallest normal number of float32. The inverse of a smaller one may be infinite, and 0 times that is no number.
 */
export const SMALLEST_NORMAL = 2 ** -126;

/** 1 / x, and 0 where x is not positive or smaller than float32's smallest normal number. Any shape. */
export function invertOrZero<T extends tf.Tensor>(x: T): T {
  return scoped('invertOrZero', () => {
    const isNormal = tf.step(tf.sub(x, SMALLEST_NORMAL));
    return tf.div(isNormal, tf.maximum(x, SMALLEST_NORMAL)) as T;
  });
}
