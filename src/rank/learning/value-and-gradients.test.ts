import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { registerGradients } from './gradients.ts';
import { computeValueAndGradients } from './value-and-gradients.ts';
import { withGradient } from './with-gradient.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);
  beforeAll(registerGradients);

  test('are those of the function, by each input', async () => {
    const [a, b] = [tf.tensor1d([2, 3]), tf.tensor1d([5, 7])];
    const result = scoped('sample', () => {
      const { value, grads } = computeValueAndGradients((x, y) => tf.mul(x!, tf.exp(y!)), [a, b], tf.tensor1d([1, 10]));
      return [value, ...grads];
    });
    const [value, byA, byB] = await Promise.all(result.map((tensor) => tensor.array() as Promise<number[]>));
    const powers = [Math.exp(5), Math.exp(7)] as const;
    for (const [i, factor] of [1, 10].entries()) {
      const x = [2, 3][i]!;
      expect(value![i]! / (x * powers[i]!)).toBeCloseTo(1, 5);
      expect(byA![i]! / (factor * powers[i]!)).toBeCloseTo(1, 5);
      expect(byB![i]! / (factor * x * powers[i]!)).toBeCloseTo(1, 5);
    }
    tf.dispose([a, b, ...result]);
  });

  test('a way back that fails leaves nothing behind', () => {
    const x = tf.tensor1d([1, 3]);
    const failInGradient = (given: tf.Tensor) =>
      withGradient(tf.mul(given, 2), (own) => ({
        value: tf.square(own),
        saved: [own],
        gradient: () => {
          throw new Error('no slope');
        },
      }));
    const differentiateFailing = () =>
      scoped('sample', () => computeValueAndGradients((y) => failInGradient(y!), [x], tf.ones([2])).value);
    expect(differentiateFailing).toThrow('no slope');
    expect(differentiateFailing).toThrow('no slope');
    x.dispose();
  });
});
