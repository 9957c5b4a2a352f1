import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { describePageRankSolver } from './pagerank-contract.harness.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { SparseTensorPageRank } from './sparse-tensor-pagerank.ts';
import { describeTensorPageRank } from './tensor-pagerank-contract.harness.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

const create = (matrix: TransitionMatrix, settings?: PageRankSettings) => new SparseTensorPageRank(matrix, settings);

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  describePageRankSolver('sparse tensor', create, 3e-6, backend !== 'webgpu'); // which adds with atomics
  describeTensorPageRank(create);
});

describe('on a backend without sums of sorted segments', () => {
  let missing: tf.KernelConfig;

  beforeAll(async () => {
    await useBackend('cpu');
    missing = tf.getKernel('SparseSegmentSum', 'cpu');
    tf.unregisterKernel('SparseSegmentSum', 'cpu');
  });

  afterAll(() => tf.registerKernel(missing));

  describePageRankSolver('sparse tensor', create, 3e-6);
});
