import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { assertSelection, computeSimilarities, gatherAtSlots } from './selection.ts';

const [B, C, D] = [3, 11, 7];
const source = createRandom(6, 'selection.test');

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('similarities are cosines among the candidates of one query, 0 with a zero vector', async () => {
    const vectors = Array.from({ length: B }, () =>
      Array.from({ length: C }, () => Array.from({ length: D }, () => 5 * source.drawNormal())),
    );
    (vectors[1] as number[][])[4] = Array(D).fill(0);
    (vectors[2] as number[][])[3] = (vectors[2] as number[][])[9] as number[];
    const embeddings = tf.tensor3d(vectors);
    const before = tf.memory().numTensors;
    const similarities = computeSimilarities(embeddings);
    const got = await similarities.array();
    similarities.dispose();
    expect(tf.memory().numTensors).toBe(before);
    embeddings.dispose();
    for (const [b, rows] of vectors.entries()) {
      for (const [i, a] of rows.entries()) {
        for (const [j, other] of rows.entries()) {
          const norms = Math.hypot(...a) * Math.hypot(...other);
          const dot = a.reduce((sum, value, k) => sum + value * (other[k] as number), 0);
          expect(got[b]?.[i]?.[j]).toBeCloseTo(norms === 0 ? 0 : dot / norms, 5);
        }
      }
    }
    expect(got[2]?.[3]?.[9]).toBeCloseTo(1, 6);
  });

  test('values are taken at each row’s own places', async () => {
    const values = tf.tensor2d([
      [10, 11, 12],
      [20, 21, 22],
    ]);
    const cube = tf.reshape(tf.range(0, 12), [2, 3, 2]);
    const slots = tf.tensor2d(
      [
        [2, 0],
        [1, 1],
      ],
      [2, 2],
      'int32',
    );
    const before = tf.memory().numTensors;
    const taken = [gatherAtSlots(values, slots), gatherAtSlots(cube, slots)];
    expect(await Promise.all(taken.map((tensor) => tensor.array()))).toEqual([
      [
        [12, 10],
        [21, 21],
      ],
      [
        [
          [4, 5],
          [0, 1],
        ],
        [
          [8, 9],
          [8, 9],
        ],
      ],
    ]);
    tf.dispose(taken);
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([values, cube, slots]);
  });

  test('what does not fit is refused', () => {
    const inputs = {
      relevance: tf.zeros([2, 3]),
      similarities: tf.zeros([2, 3, 3]),
      mask: tf.ones([2, 3], 'bool'),
    } as const;
    const fit = inputs as unknown as Parameters<typeof assertSelection>[0];
    const square = tf.zeros([2, 3, 5]) as tf.Tensor3D;
    const turned = tf.ones([3, 2], 'bool') as tf.Tensor2D;
    expect(() => assertSelection(fit, 0.7, 3)).not.toThrow();
    expect(() => assertSelection({ ...fit, similarities: square }, 0.7, 3)).toThrow('shape of similarities');
    expect(() => assertSelection({ ...fit, mask: turned }, 0.7, 3)).toThrow('shape of mask');
    for (const lambda of [-0.1, 1.5, Number.NaN])
      expect(() => assertSelection(fit, lambda, 3)).toThrow(`lambda is outside [0, 1]: ${lambda}`);
    for (const k of [0, 1.5, Number.NaN])
      expect(() => assertSelection(fit, 0.7, k)).toThrow(`k is not a positive integer: ${k}`);
    tf.dispose([...Object.values(inputs), square, turned]);
  });
});
