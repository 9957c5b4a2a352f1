import * as tf from '@tensorflow/tfjs-core';
import { expect, test } from 'vitest';
import { buildHandmadeMatrix } from './pagerank.oracle.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import type { TensorPageRank } from './tensor-pagerank.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** The contract of every solver with tensors, besides solving PageRank. */
export function describeTensorPageRank(
  create: (matrix: TransitionMatrix, settings?: PageRankSettings) => TensorPageRank,
): void {
  test('no tensor is left, whether it converges, throws, or is refused', async () => {
    const before = tf.memory().numTensors;
    const matrix = buildHandmadeMatrix({
      directed: true,
      nodes: ['a', 'b', 'c'],
      edges: [
        ['a', 'b', 1],
        ['b', 'a', 2],
        ['b', 'c', 1],
      ],
    });
    const solver = create(matrix);
    const held = tf.memory().numTensors;
    expect(held).toBeGreaterThan(before);
    await solver.solve([new Map([['a', 1]]), new Map([['c', 1]])]);
    await expect(solver.solve([new Map([['x', 1]])])).rejects.toThrow('not in the graph');
    expect(tf.memory().numTensors).toBe(held);
    solver.dispose();
    expect(tf.memory().numTensors).toBe(before);
    const slow = create(matrix, { damping: 0.99, maxIterations: 3 });
    await expect(slow.solve([new Map([['a', 1]])])).rejects.toThrow('did not converge');
    slow.dispose();
    expect(() => create(matrix, { damping: 2 })).toThrow('damping');
    expect(tf.memory().numTensors).toBe(before);
  });
}
