import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { withGradient } from './linear-model.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('the gradient is the one that is written out, of what was saved, though its scope is over', async () => {
    const computeGradientOp = (x: tf.Tensor) =>
      scoped('op', () =>
        withGradient(x, (given) => {
          const doubled = tf.mul(given, 2);
          return {
            value: tf.square(given),
            saved: [doubled],
            gradient: (dy, [saved]) => tf.mul(dy, tf.add(saved!, 100)),
          };
        }),
      );
    const x = tf.tensor1d([1, 3]);
    const dy = tf.ones([2]);
    const { value, grad } = tf.valueAndGrad(computeGradientOp)(x, dy);
    expect([...(await value.data())]).toEqual([1, 9]);
    expect([...(await grad.data())]).toEqual([102, 106]);
    tf.dispose([x, dy, value, grad]);
  });
});
