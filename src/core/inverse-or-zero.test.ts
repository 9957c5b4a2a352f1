import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from './backends.harness.ts';
import { inverseOrZero } from './inverse-or-zero.ts';
import { onBackendWithoutLeaks } from './leaks.harness.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  onBackendWithoutLeaks(backend);

  test('the inverse of what is positive; of nothing, less than nothing and subnormal numbers 0', async () => {
    const x = tf.tensor1d([4, 0.5, 2 ** -125, 2 ** -130, 2 ** -149, 0, -2]);
    const inverse = inverseOrZero(x);
    expect([...(await inverse.data())]).toEqual([0.25, 2, 2 ** 125, 0, 0, 0, 0]);
    tf.dispose([x, inverse]);
  });
});
