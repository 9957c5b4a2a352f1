import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { useBackend } from './backend.ts';
import { readBack } from './scope.ts';

beforeAll(() => useBackend('wasm'));

test('gives the numbers and leaves nothing on the device', async () => {
  const before = tf.memory().numTensors;
  const values = await readBack('product', () => tf.mul(tf.tensor1d([2, 3, 5]), tf.scalar(7)));
  expect([...values]).toEqual([14, 21, 35]);
  expect(tf.memory().numTensors).toBe(before);
});

test('an error of the computation comes through and leaks nothing', async () => {
  const before = tf.memory().numTensors;
  const throwInScope = () => {
    tf.ones([3]);
    throw new RangeError('on purpose');
  };
  await expect(readBack('broken', throwInScope)).rejects.toThrow(RangeError);
  expect(tf.memory().numTensors).toBe(before);
});
