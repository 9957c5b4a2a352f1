import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { COORDINATES } from '../../ops/trajectory/coordinate-names.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';
import { keepCompared } from './trajectory-columns.ts';
import { blendTrajectory, trajectoryScore } from './trajectory-score.ts';

const [B, C, M] = [3, 11, 5];
const TEMPORAL = 3;
const source = createRandom(5, 'trajectory-score.test');
const drawCube = () =>
  Array.from({ length: B }, () => Array.from({ length: C }, () => Array.from({ length: M }, () => source.uniform())));
const candidates = drawCube();
const queries = drawCube();
(candidates[1] as number[][])[4] = queries[1]?.[4] as number[];
const cold = candidates.map((row) => row.map(() => source.integer(2)));
(cold[1] as number[])[4] = 0;
const weights = [1, 0.5, 1.2, 0.8, 0.3];

function computeExpectedDistance(b: number, c: number): number {
  let sum = 0;
  for (const [i, weight] of weights.entries()) {
    if (cold[b]?.[c] === 1 && i !== TEMPORAL) continue;
    sum += weight * ((candidates[b]?.[c]?.[i] as number) - (queries[b]?.[c]?.[i] as number)) ** 2;
  }
  return Math.sqrt(sum);
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('a distance takes all coordinates, or at a cold start time alone', async () => {
    const [own, others] = [candidates, queries].map((cube) => Float32Array.from(cube.flat(2))) as [
      Float32Array,
      Float32Array,
    ];
    const compared = keepCompared(own, others, Uint8Array.from(cold.flat()), COORDINATES[5]);
    const pairs = [tf.tensor3d(compared, [B, C, M]), tf.tensor3d(others, [B, C, M])] as const;
    const weighting = tf.tensor1d(weights);
    const before = tf.memory().numTensors;
    const distances = trajectoryDistance(...pairs, weighting);
    const scores = trajectoryScore(distances, 0.7);
    const [got, gotScores] = [await distances.array(), await scores.array()];
    tf.dispose([distances, scores]);
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([...pairs, weighting]);
    for (let b = 0; b < B; b++) {
      for (let c = 0; c < C; c++) {
        expect(got[b]?.[c]).toBeCloseTo(computeExpectedDistance(b, c), 5);
        expect(gotScores[b]?.[c]).toBeCloseTo(Math.exp(-computeExpectedDistance(b, c) / 0.7), 5);
      }
    }
    expect(got[1]?.[4]).toBe(0);
    expect(gotScores[1]?.[4]).toBe(1);
  });

  test('the final score weighs trajectory against semantic similarity', async () => {
    const semantic = tf.tensor2d([[1, 0, 0.5]]);
    const trajectory = tf.tensor2d([[0, 1, 0.5]]);
    const before = tf.memory().numTensors;
    const final = blendTrajectory(semantic, trajectory, 0.3);
    expect([...(await final.data())].map((value) => value.toFixed(6))).toEqual(['0.700000', '0.300000', '0.500000']);
    final.dispose();
    expect(() => blendTrajectory(semantic, trajectory, 1.5)).toThrow('trajectoryWeight is outside [0, 1]: 1.5');
    expect(() => trajectoryScore(trajectory, 0)).toThrow('sigma is not positive: 0');
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([semantic, trajectory]);
  });
});
