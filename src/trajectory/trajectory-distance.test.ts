import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
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

describe.each(['cpu', 'wasm'] as const)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('takes one query for all candidates, one a pair, and weights a pair', () => {
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
    const values = (queries: tf.Tensor3D, w: tf.Tensor1D | tf.Tensor3D) => {
      const distance = trajectoryDistance(inputs.candidates, queries, w);
      const array = distance.arraySync();
      distance.dispose();
      return array;
    };
    const root = Math.fround(Math.sqrt(9 + 4));
    expect(values(inputs.origin, inputs.weights)).toEqual([
      [0, 2],
      [3, root],
    ]);
    expect(values(inputs.pairs, inputs.weights)).toEqual(values(inputs.origin, inputs.weights));
    expect(values(inputs.pairs, inputs.pairWeights)).toEqual([
      [0, 2],
      [3, 4],
    ]);
    expect(() => values(inputs.candidates, inputs.origin)).toThrow('shape of weights');
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose(inputs);
  });
});
