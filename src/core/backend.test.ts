import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { activeBackend, BACKENDS, probeBackends, useBackend } from './backend.ts';
import { UnavailableError } from './errors.ts';

test('a probe says of every backend whether it is there, and why', () => {
  const probes = probeBackends();
  expect(probes.map(({ name }) => name)).toEqual([...BACKENDS]);
  expect(probes.every(({ reason }) => reason.length > 0)).toBe(true);
  expect(probes.filter(({ name }) => name === 'wasm' || name === 'cpu').every(({ available }) => available)).toBe(true);
});

test.each(['wasm', 'cpu'] as const)('%s loads and computes', async (name) => {
  expect(await useBackend(name)).toBe(name);
  expect(activeBackend()).toBe(name);
  const sum = tf.sum(tf.tensor1d([2, 3, 5]));
  expect((await sum.data())[0]).toBe(10);
  sum.dispose();
});

test('loading wasm leaves no handler of uncaught errors behind', async () => {
  const count = () => process.listenerCount('uncaughtException') + process.listenerCount('unhandledRejection');
  const before = count();
  await useBackend('wasm');
  expect(count()).toBe(before);
});

test('auto takes the first that loads', async () => {
  const first = probeBackends().find(({ available }) => available);
  expect(await useBackend('auto')).toBe(first?.name);
});

test('a named backend that is not there is an error, never another backend', async () => {
  const absent = probeBackends().find(({ available }) => !available);
  if (absent === undefined) return;
  await expect(useBackend(absent.name)).rejects.toThrow(UnavailableError);
  await expect(useBackend(absent.name)).rejects.toThrow(absent.name);
});
