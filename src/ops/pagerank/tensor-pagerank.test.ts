import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { buildHandmadeMatrix, drawSampleGraph, drawSeedQueries, solveExactPageRank } from './pagerank.oracle.ts';
import { describePageRankSolver } from './pagerank-contract.harness.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { type DeviceTransitions, TensorPageRank } from './tensor-pagerank.ts';
import { describeTensorPageRank } from './tensor-pagerank-contract.harness.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

const BATCH = 5;

/** Pᵀ written out entry by entry, for few queries at a time; tells how many it was asked for. */
function upload({ nodeIds, probabilities }: TransitionMatrix, widths: number[] = []): DeviceTransitions {
  const { offsets, columnOf, values } = probabilities;
  const rows = tf.buffer([nodeIds.length, nodeIds.length]);
  for (const source of nodeIds.keys())
    for (let entry = offsets[source]!; entry < offsets[source + 1]!; entry++)
      rows.set(values[entry]!, columnOf[entry]!, source);
  const incoming = rows.toTensor() as tf.Tensor2D;
  return {
    batch: BATCH,
    spread(ranks) {
      widths.push(ranks.shape[1]);
      return tf.matMul(incoming, ranks);
    },
    dispose: () => tf.dispose(incoming),
  };
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  const create = (matrix: TransitionMatrix, settings: PageRankSettings = {}) =>
    new TensorPageRank('by batches', matrix, settings, upload);
  describePageRankSolver('tensor, five queries at a time', create, 3e-6);
  describeTensorPageRank(create);

  test('no more queries are spread at once than the device takes, and a batch goes on until its last has converged', async () => {
    const widths: number[] = [];
    const matrix = buildHandmadeMatrix(drawSampleGraph());
    const solver = new TensorPageRank('by batches', matrix, {}, (own) => upload(own, widths));
    const queries = drawSeedQueries(13);
    const { iterations, scores } = await solver.solve(queries);
    const alone = await Promise.all(queries.map(async (seeds) => (await solver.solve([seeds])).iterations[0]!));
    solver.dispose();
    const slowest = [alone.slice(0, 5), alone.slice(5, 10), alone.slice(10)].map((counts) => Math.max(...counts));
    expect(new Set(alone).size).toBeGreaterThan(1);
    const [first, second, third] = slowest as [number, number, number];
    expect([...iterations]).toEqual([...Array(5).fill(first), ...Array(5).fill(second), ...Array(3).fill(third)]);
    const batches = [...Array(first).fill(5), ...Array(second).fill(5), ...Array(third).fill(3)];
    expect(widths.slice(0, batches.length)).toEqual(batches);
    const nodes = matrix.nodeIds.length;
    for (const [query, seeds] of queries.entries()) {
      const exact = solveExactPageRank(drawSampleGraph(), seeds, 0.5);
      const row = scores.subarray(query * nodes, (query + 1) * nodes);
      for (const [i, id] of matrix.nodeIds.entries()) expect(Math.abs(row[i]! - exact.get(id)!)).toBeLessThan(3e-6);
    }
  });

  test('a device that spreads to another shape is found out, and leaves no tensor', async () => {
    const matrix = buildHandmadeMatrix(drawSampleGraph());
    const before = tf.memory().numTensors;
    const solver = new TensorPageRank('narrow', matrix, {}, (own) => {
      const device = upload(own);
      return { ...device, spread: (ranks) => tf.slice(device.spread(ranks), [0, 0], [31, -1]) as tf.Tensor2D };
    });
    await expect(solver.solve(drawSeedQueries(3))).rejects.toThrow(
      'shape of spread ranks: expected [47, 3], got [31, 3]',
    );
    solver.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
