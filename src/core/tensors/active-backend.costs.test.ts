import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { addCost, measureCost, setGarbageClock } from './active-backend.ts';
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
  expect([three.result, three.own.launches, three.own.bytesRead]).toEqual([3, 3, 3 * 6 * 4]);
  expect([five.result, five.own.launches, five.own.bytesRead]).toEqual([5, 5, 5 * 6 * 4]);
});

test('work that is measured by itself is not counted again', async () => {
  let inner: number[] = [];
  const outer = await measureCost(async () => {
    await readBack('test', () => tf.exp(tf.ones([7])));
    const { own } = await measureCost(() => readBack('test', () => tf.exp(tf.sqrt(tf.ones([11])))));
    expect(own.seconds).toBeGreaterThan(0);
    inner = [own.launches, own.bytesRead];
  });
  expect([inner, outer.own.launches, outer.own.bytesRead]).toEqual([[2, 44], 1, 28]);
  expect([outer.all.launches, outer.all.bytesRead]).toEqual([3, 72]);
});

test('launches of another process count for the work that waits for it, and for no other', async () => {
  addCost({ launches: 3, bytesRead: 12 });
  const waiting = await measureCost(async () => {
    await readBack('test', () => tf.exp(tf.ones([7])));
    addCost({ launches: 5, bytesRead: 20 });
  });
  expect([waiting.all.launches, waiting.all.bytesRead]).toEqual([6, 48]);
});

test('garbage is collected in the innermost work whose time it is', async () => {
  let collected = 1;
  setGarbageClock(() => collected);
  const { own, all, result } = await measureCost(async () => {
    collected += 2;
    const inner = await measureCost(() => {
      collected += 8;
    });
    collected += 4;
    return inner.own.garbageSeconds;
  });
  setGarbageClock(() => 0);
  expect([own.garbageSeconds, all.garbageSeconds, result]).toEqual([6, 14, 8]);
});

test('what fails is thrown', async () => {
  const failing = measureCost(() => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
});
