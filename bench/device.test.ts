import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { benchDevice, formatDeviceTable, measureDevice } from './device.ts';

test('each workload agrees with cpu, launches kernels and reaches a share of the rates, and leaves no tensor', async () => {
  await useBackend('wasm');
  const before = tf.memory().numTensors;
  const report = await measureDevice({ backend: 'wasm', size: 'tiny', rounds: 1, seed: 7 });
  expect(tf.memory().numTensors).toBe(before);
  expect(report.matmulRate).toBeGreaterThan(0);
  expect(report.memoryRate).toBeGreaterThan(0);
  expect(report.rows).toHaveLength(10);
  for (const row of report.rows) {
    expect(row.difference, row.workload).toBeLessThan(1e-4);
    expect(Math.min(row.launches, row.operations, row.bytes), row.workload).toBeGreaterThan(0);
    expect(Math.min(row.matmulShare, row.memoryShare, row.seconds), row.workload).toBeGreaterThan(0);
    expect(formatDeviceTable(report)).toContain(row.workload);
  }
});

test('an unknown size is an error', async () => {
  await expect(benchDevice(['--size', 'huge'])).rejects.toThrow('unknown --size: huge; use one of tiny, small, large');
});
