import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { maskedSoftmax } from './options.ts';

const LOGITS = [
  [1, 2, 3, 2],
  [-5, 80, 88, 1000],
  [0, 0, 0, 0],
  [-1000, -1001, -999, 7],
  [4, 4, 4, 9],
];
const MASK = [
  [1, 1, 1, 1],
  [1, 1, 1, 0],
  [0, 0, 0, 0],
  [1, 1, 1, 0],
  [0, 1, 0, 0],
];

function computeExpectedSoftmax(logits: number[], mask: number[]): number[] {
  const largest = Math.max(...logits.filter((_, j) => mask[j] === 1));
  const powers = logits.map((logit, j) => (mask[j] === 1 ? Math.exp(logit - largest) : 0));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => (sum === 0 ? 0 : power / sum));
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('is the softmax of the positions that the mask leaves, zeros where it leaves none', async () => {
    const inputs = [tf.tensor2d(LOGITS), tf.tensor2d(MASK, [5, 4], 'bool')] as const;
    const before = tf.memory().numTensors;
    const weights = maskedSoftmax(...inputs);
    expect(tf.memory().numTensors).toBe(before + 1);
    const got = await weights.array();
    for (const [i, row] of LOGITS.entries()) {
      const want = computeExpectedSoftmax(row, MASK[i] as number[]);
      for (const [j, value] of want.entries()) expect(got[i]?.[j]).toBeCloseTo(value, 6);
      for (const [j, kept] of (MASK[i] as number[]).entries()) if (kept === 0) expect(got[i]?.[j]).toBe(0);
    }
    expect(got[2]).toEqual([0, 0, 0, 0]);
    tf.dispose([weights, ...inputs]);
  });

  test('refuses a mask of another shape, and leaks nothing', () => {
    const [logits, mask] = [tf.zeros([5, 4]), tf.ones([4, 5], 'bool')] as [tf.Tensor2D, tf.Tensor2D];
    const before = tf.memory().numTensors;
    expect(() => maskedSoftmax(logits, mask)).toThrow(DimensionMismatchError);
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([logits, mask]);
  });
});
