import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { DENSE_NODES, DenseTensorPageRank } from './dense-tensor-pagerank.ts';
import { buildHandmadeMatrix } from './pagerank.oracle.ts';
import { describePageRankSolver } from './pagerank-contract.harness.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { describeTensorPageRank } from './tensor-pagerank-contract.harness.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  const create = (matrix: TransitionMatrix, settings?: PageRankSettings) => new DenseTensorPageRank(matrix, settings);
  describePageRankSolver('dense tensor', create, 3e-6);
  describeTensorPageRank(create);
});

test('refuses a graph whose matrix would not fit', () => {
  const nodes = Array.from({ length: DENSE_NODES + 1 }, (_, i) => `n${i}`);
  const matrix = buildHandmadeMatrix({ directed: true, nodes, edges: [] });
  const before = tf.memory().numTensors;
  expect(() => new DenseTensorPageRank(matrix)).toThrow(
    '8193 nodes are more than 8192, the limit of dense-tensor PageRank',
  );
  expect(tf.memory().numTensors).toBe(before);
});
