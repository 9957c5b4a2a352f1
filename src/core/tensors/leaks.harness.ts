import * as tf from '@tensorflow/tfjs-core';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type BackendName, useBackend } from './backend.ts';

/** Has the tests of a `describe` run on a backend, and each of them leave as many tensors as it found. */
export function useBackendWithoutLeaks(backend: BackendName): void {
  let before = 0;
  beforeAll(() => useBackend(backend));
  beforeEach(() => {
    before = tf.memory().numTensors;
  });
  afterEach(() => expect(tf.memory().numTensors).toBe(before));
}
