import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { trajectoryDistance } from './trajectory-distance.ts';

const candidates = [
  [
    [0, 0, 0],
    [1, 0, 0],
  ],
  [
    [0, 3, 0],
    [0, 3, 4],
  ],
];
const weights = [4, 1, 0.25];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('takes one query for all candidates, one a pair, and weights a pair', async () => {
    const inputs = {
      candidates: tf.tensor3d(candidates),
      origin: tf.zeros([2, 1, 3]) as tf.Tensor3D,
      pairs: tf.zeros([2, 2, 3]) as tf.Tensor3D,
      weights: tf.tensor1d(weights),
      pairWeights: tf.tensor3d([
        [weights, weights],
        [weights, [0, 0, 1]],
      ]),
    };
    const before = tf.memory().numTensors;
    const values = async (queries: tf.Tensor3D, w: tf.Tensor1D | tf.Tensor3D) => {
      const distance = trajectoryDistance(inputs.candidates, queries, w);
      const array = await distance.array();
      distance.dispose();
      return array;
    };
    const root = Math.fround(Math.sqrt(9 + 4));
    expect(await values(inputs.origin, inputs.weights)).toEqual([
      [0, 2],
      [3, root],
    ]);
    expect(await values(inputs.pairs, inputs.weights)).toEqual(await values(inputs.origin, inputs.weights));
    expect(await values(inputs.pairs, inputs.pairWeights)).toEqual([
      [0, 2],
      [3, 4],
    ]);
    await expect(values(inputs.candidates, inputs.origin)).rejects.toThrow('shape of weights');
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose(inputs);
  });
});
