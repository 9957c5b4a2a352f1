import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { compileKernel } from '../../core/tensors/kernel-text.harness.ts';
import { allocateCandidates } from '../candidates/query-batch.ts';
import { countQueriesTogether, takeBestByKernel } from './best-rows.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('best-rows.wat', import.meta.url));
  const source = readFileSync(new URL('best-rows.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

test('the kernel launches none of the backend and leaves no tensor in its memory', async () => {
  await useBackend('cpu');
  expect(countQueriesTogether()).toBe(1);
  await useBackend('wasm');
  expect(countQueriesTogether()).toBe(16);
  const rows = {
    vectors: tf.tensor2d(Float32Array.of(0.6, 0.8, 1, 0, 0, 1), [3, 2]),
    positions: Int32Array.of(2, 1, 0),
    validFrom: Int32Array.of(3, 2, 1),
    validTo: Int32Array.of(9, 9, 9),
  };
  const part = { queries: [1, 0], vectors: Float32Array.of(1, 0, 0, 1), cutoffs: Int32Array.of(3, 2) };
  const found = allocateCandidates(2, 2);
  const backend = tf.backend() as unknown as { readonly numDataIds: () => number };
  const before = backend.numDataIds();
  const { kernelNames } = await tf.profile(async () => {
    await takeBestByKernel(rows, part, found);
    return rows.vectors;
  });
  expect(kernelNames).toEqual([]);
  expect(backend.numDataIds()).toBe(before);
  expect([...found.positions]).toEqual([0, 1, 1, 2]);
  expect([...found.scores]).toEqual([1, 0, 1, Math.fround(0.6)]);
  rows.vectors.dispose();
});
