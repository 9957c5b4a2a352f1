import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { matrixOf } from './handmade-pagerank.ts';
import { describePageRankSolver } from './pagerank-contract.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { SparseTensorPageRank } from './sparse-tensor-pagerank.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  const create = (matrix: TransitionMatrix, settings?: PageRankSettings) => new SparseTensorPageRank(matrix, settings);
  describePageRankSolver('sparse tensor', create, 3e-6, backend !== 'webgpu'); // which adds with atomics

  test('no tensor is left, whether it converges, throws, or is refused', async () => {
    const before = tf.memory().numTensors;
    const matrix = matrixOf({
      directed: true,
      nodes: ['a', 'b', 'c'],
      edges: [
        ['a', 'b', 1],
        ['b', 'a', 2],
        ['b', 'c', 1],
      ],
    });
    const solver = new SparseTensorPageRank(matrix);
    const held = tf.memory().numTensors;
    expect(held).toBeGreaterThan(before);
    await solver.solve([new Map([['a', 1]]), new Map([['c', 1]])]);
    await expect(solver.solve([new Map([['x', 1]])])).rejects.toThrow('not in the graph');
    expect(tf.memory().numTensors).toBe(held);
    solver.dispose();
    expect(tf.memory().numTensors).toBe(before);
    const slow = new SparseTensorPageRank(matrix, { damping: 0.99, maxIterations: 3 });
    await expect(slow.solve([new Map([['a', 1]])])).rejects.toThrow('did not converge');
    slow.dispose();
    expect(() => new SparseTensorPageRank(matrix, { damping: 2 })).toThrow('damping');
    expect(tf.memory().numTensors).toBe(before);
  });
});
