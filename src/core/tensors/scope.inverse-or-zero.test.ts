import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from './backends.harness.ts';
import { useBackendWithoutLeaks } from './leaks.harness.ts';
import { invertOrZero } from './scope.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('the inverse of what is positive; of nothing, less than nothing and subnormal numbers 0', async () => {
    const x = tf.tensor1d([4, 0.5, 2 ** -125, 2 ** -130, 2 ** -149, 0, -2]);
    const inverse = invertOrZero(x);
    expect([...(await inverse.data())]).toEqual([0.25, 2, 2 ** 125, 0, 0, 0, 0]);
    tf.dispose([x, inverse]);
  });
});
