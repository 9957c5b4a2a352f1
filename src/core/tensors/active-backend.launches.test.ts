import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { addLaunches, measureCost } from './active-backend.ts';
import { useBackend } from './backend.ts';
import { readBack } from './scope.ts';

beforeAll(() => useBackend('cpu'));

test('counts kernels once, also those of work beside it and after it has waited, and no views', async () => {
  await useBackend('cpu'); // again: the engine is watched once
  const add = (n: number) =>
    measureCost(async () => {
      for (let i = 0; i < n; i++) await readBack('test', () => tf.reshape(tf.add(tf.ones([2, 3]), 1), [3, 2]));
      return n;
    });
  const [three, five] = await Promise.all([add(3), add(5)]);
  expect([three.result, three.launches]).toEqual([3, 3]);
  expect([five.result, five.launches]).toEqual([5, 5]);
});

test('work that is measured by itself is not counted again', async () => {
  let inner = 0;
  const outer = await measureCost(async () => {
    await readBack('test', () => tf.exp(tf.ones([7])));
    const { launches, seconds } = await measureCost(() => readBack('test', () => tf.exp(tf.sqrt(tf.ones([7])))));
    expect(seconds).toBeGreaterThan(0);
    inner = launches;
  });
  expect([inner, outer.launches]).toEqual([2, 1]);
});

test('launches of another process count for the work that waits for it, and for no other', async () => {
  addLaunches(3);
  const waiting = await measureCost(async () => {
    await readBack('test', () => tf.exp(tf.ones([7])));
    addLaunches(5);
  });
  expect(waiting.all.launches).toBe(6);
});

test('what fails is thrown', async () => {
  const failing = measureCost(() => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
});
