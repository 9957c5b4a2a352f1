import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { COORDINATES, DEFAULT_WEIGHTS, type Dimensions, listCoordinateWeights } from './coordinate-names.ts';
import { pairwiseTrajectoryDistance, trajectoryDistance } from './trajectory-distance.ts';

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
    const measureDistances = async (queries: tf.Tensor3D, w: tf.Tensor1D | tf.Tensor3D) => {
      const distance = trajectoryDistance(inputs.candidates, queries, w);
      const array = await distance.array();
      distance.dispose();
      return array;
    };
    const root = Math.fround(Math.sqrt(9 + 4));
    expect(await measureDistances(inputs.origin, inputs.weights)).toEqual([
      [0, 2],
      [3, root],
    ]);
    expect(await measureDistances(inputs.pairs, inputs.weights)).toEqual(
      await measureDistances(inputs.origin, inputs.weights),
    );
    expect(await measureDistances(inputs.pairs, inputs.pairWeights)).toEqual([
      [0, 2],
      [3, 4],
    ]);
    await expect(measureDistances(inputs.candidates, inputs.origin)).rejects.toThrow('shape of weights');
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose(inputs);
  });

  test.each([3, 5, 7] as const)(
    'in %d dimensions, weights by name, is the root of the weighted squares',
    async (dimensions) => {
      const [B, C] = [5, 11];
      const source = createRandom(dimensions, 'trajectory-distance.test');
      const drawPoint = () => COORDINATES[dimensions].map(() => source.uniform());
      const pairs = Array.from({ length: B }, () =>
        Array.from({ length: C }, () => [drawPoint(), drawPoint()] as const),
      );
      const inputs = {
        candidates: tf.tensor3d(pairs.map((row) => row.map(([candidate]) => candidate))),
        queries: tf.tensor3d(pairs.map((row) => row.map(([, query]) => query))),
        weights: tf.tensor1d(listCoordinateWeights(dimensions, { temporal: 3 })),
      };
      const { candidates: all, queries, weights: named } = inputs;
      const distance = trajectoryDistance(all, queries, named);
      const [rows, others] = [tf.reshape(all, [B * C, dimensions]), tf.reshape(queries, [B * C, dimensions])] as [
        tf.Tensor2D,
        tf.Tensor2D,
      ];
      const pairwise = pairwiseTrajectoryDistance(rows, others, named);
      const [got, gotPairwise] = [await distance.array(), await pairwise.array()];
      const last = pairs.at(-1)?.at(-1)?.[1] as number[];
      for (const [b, row] of pairs.entries()) {
        for (const [c, [candidate, query]] of row.entries()) {
          const expected = computeNamedDistance(dimensions, candidate, query);
          expect(got[b]?.[c]).toBeCloseTo(expected, 6);
          expect(gotPairwise[b * C + c]?.[b * C + c]).toBeCloseTo(expected, 6);
          expect(gotPairwise[b * C + c]?.[B * C - 1]).toBeCloseTo(computeNamedDistance(dimensions, candidate, last), 6);
        }
      }
      tf.dispose([...Object.values(inputs), distance, pairwise, rows, others]);
    },
  );
});

/** Time weighs 3, every other coordinate what it does by default. */
function computeNamedDistance(dimensions: Dimensions, p: readonly number[], q: readonly number[]): number {
  const squares = COORDINATES[dimensions].map((name, i) => {
    const weight = name === 'temporal' ? 3 : DEFAULT_WEIGHTS[name];
    return weight * ((p[i] as number) - (q[i] as number)) ** 2;
  });
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0));
}
