import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { attentionLogits } from './options.ts';

const COSINES = [
  [1, 0.5, 0],
  [-0.25, -1, 0.75],
];
const STEPS = [0, 1, 7];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([
    ['multiplicative', (cosine: number, d: number) => (Math.exp(-0.4 * d) * (1 + cosine)) / 2 / 0.2],
    ['additive', (cosine: number, d: number) => (1 + cosine) / 2 / 0.2 - 0.4 * d],
  ] as const)('%s, with a distance for each pair or for each column', async (combine, formula) => {
    const cosine = tf.tensor2d(COSINES);
    const distances = [tf.tensor2d(STEPS, [1, 3]), tf.tensor2d([STEPS, STEPS])];
    const expected = COSINES.map((row) => row.map((value, j) => formula(value, STEPS[j] as number)));
    for (const distance of distances) {
      const before = tf.memory().numTensors;
      const logits = attentionLogits(cosine, distance, { combine, decay: 0.4, temperature: 0.2 });
      expect(tf.memory().numTensors).toBe(before + 1);
      const got = await logits.array();
      for (const [i, row] of expected.entries())
        for (const [j, value] of row.entries()) expect(got[i]?.[j]).toBeCloseTo(value, 5);
      logits.dispose();
    }
    tf.dispose([cosine, ...distances]);
  });

  test('nothing leaks when shapes do not fit', () => {
    const [cosine, distance] = [tf.tensor2d(COSINES), tf.zeros([2, 5])];
    const before = tf.memory().numTensors;
    for (const combine of ['multiplicative', 'additive'] as const)
      expect(() => attentionLogits(cosine, distance, { combine, decay: 1, temperature: 1 })).toThrow();
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([cosine, distance]);
  });
});
