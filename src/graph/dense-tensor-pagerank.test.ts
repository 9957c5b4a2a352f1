import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { DENSE_NODES, DenseTensorPageRank } from './dense-tensor-pagerank.ts';
import { matrixOf } from './handmade-pagerank.ts';
import { describePageRankSolver } from './pagerank-contract.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  describePageRankSolver('dense tensor', (matrix, settings) => new DenseTensorPageRank(matrix, settings), 3e-6);

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
    const solver = new DenseTensorPageRank(matrix);
    const held = tf.memory().numTensors;
    expect(held).toBeGreaterThan(before);
    await solver.solve([new Map([['a', 1]]), new Map([['c', 1]])]);
    await expect(solver.solve([new Map([['x', 1]])])).rejects.toThrow('not in the graph');
    expect(tf.memory().numTensors).toBe(held);
    solver.dispose();
    expect(tf.memory().numTensors).toBe(before);
    const slow = new DenseTensorPageRank(matrix, { damping: 0.99, maxIterations: 3 });
    await expect(slow.solve([new Map([['a', 1]])])).rejects.toThrow('did not converge');
    slow.dispose();
    expect(() => new DenseTensorPageRank(matrix, { damping: 2 })).toThrow('damping');
    expect(tf.memory().numTensors).toBe(before);
  });
});

test('refuses a graph whose matrix would not fit', () => {
  const nodes = Array.from({ length: DENSE_NODES + 1 }, (_, i) => `n${i}`);
  const matrix = matrixOf({ directed: true, nodes, edges: [] });
  const before = tf.memory().numTensors;
  expect(() => new DenseTensorPageRank(matrix)).toThrow('dense-tensor PageRank takes at most 8192 nodes: 8193');
  expect(tf.memory().numTensors).toBe(before);
});
