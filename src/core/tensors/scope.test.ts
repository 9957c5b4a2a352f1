import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { ValidationError } from '../errors/errors.ts';
import { useBackend } from './backend.ts';
import { scoped } from './scope.ts';

beforeAll(() => useBackend('cpu'));

test('only what is returned outlives the scope', async () => {
  const before = tf.memory().numTensors;
  const kept = scoped('kept', () => tf.mul(tf.add(tf.scalar(2), 3), 7));
  expect((await kept.data())[0]).toBe(35);
  expect(tf.memory().numTensors).toBe(before + 1);
  kept.dispose();
});

test('nothing leaks when the function throws', () => {
  const before = tf.memory().numTensors;
  expect(() =>
    scoped('broken', () => {
      tf.ones([3, 5]);
      throw new RangeError('on purpose');
    }),
  ).toThrow(RangeError);
  expect(tf.memory().numTensors).toBe(before);
});

test('a promise is refused by name', () => {
  const asynchronous = (async () => tf.scalar(1)) as unknown as () => tf.Tensor;
  expect(() => scoped('late', asynchronous)).toThrow(ValidationError);
  expect(() => scoped('late', asynchronous)).toThrow(/late/);
});
