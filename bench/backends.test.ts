import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { listBackendWorkloads } from './backend-workloads.ts';
import { type BackendRow, benchBackends, formatBackendTable, measureBackends } from './backends.ts';

const workloads = listBackendWorkloads({
  dimension: 13,
  texts: 2,
  learning: { queries: 31, candidates: 7, signals: 3, epochs: 2 },
  rerank: { turns: 101, candidates: 11, batches: [1, 5] },
  pagerank: { nodes: 53, edges: 211, batch: 3 },
  seed: 3,
});

test.each(workloads.map((workload) => [workload.name, workload] as const))(
  '%s gives the same numbers on every backend and leaves no tensor',
  async (name, workload) => {
    await useBackend('wasm');
    const before = tf.memory().numTensors;
    const other = name.startsWith('use-lite') ? 'wasm' : 'cpu'; // which takes seconds for a text
    const rows = await measureBackends(workload, ['wasm', other], 2, 0);
    expect(tf.memory().numTensors).toBe(before);
    expect(rows.map(({ backend, rounds }) => [backend, rounds.length])).toEqual([
      ['wasm', 2],
      [other, 2],
    ]);
    expect(rows.every((row) => row.workload === name && row.rounds.every((time) => time > 0))).toBe(true);
    expect(rows[0]!.difference).toBe(0);
    expect(rows[1]!.difference).toBeLessThan(1e-5);
  },
);

test('the ratio is that of the middle round, not of the fastest times', () => {
  const shared = { workload: 'work', processor: 1234, difference: 2e-7 };
  const rows: BackendRow[] = [
    { ...shared, backend: 'wasm', rounds: [2, 8, 3], difference: 0 },
    { ...shared, backend: 'node', rounds: [1, 2, 2] },
  ];
  const cells = formatBackendTable(rows)
    .split('\n')
    .slice(2)
    .map((line) => line.split(/\s{2,}/));
  expect(cells).toEqual([
    ['work', 'wasm', '2.00', '1234'],
    ['work', 'node', '1.00', '1234', '2.00', '1.50 to 4.00', '2.0e-7'],
  ]);
});

test.each([
  [
    ['--backends', 'wasm,torch'],
    'unknown backend in --backends: torch; use names of cuda, node, webgpu, wasm, cpu, separated by commas',
  ],
  [['--rounds', '0'], '--rounds is not an integer: 0; give one from 1'],
])('a wrong option is an error: %j', async (args, message) => {
  await expect(benchBackends(args)).rejects.toThrow(message);
});
