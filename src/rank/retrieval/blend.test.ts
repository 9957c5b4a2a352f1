import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { blendScores, divideScoresByRowMaximum } from './blend.ts';

describe.each(TEST_BACKENDS)('%s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('rows are divided by their largest value, and rows without one become 0', async () => {
    const scores = tf.tensor2d([2, 4, 1, 0, 0, 0, 0.5, 0, 0.25, 2 ** -140, 0, 0], [4, 3]);
    const scaled = divideScoresByRowMaximum(scores);
    expect([...(await scaled.data())]).toEqual([0.5, 1, 0.25, 0, 0, 0, 1, 0, 0.5, 0, 0, 0]);
    tf.dispose([scores, scaled]);
  });

  test('a blend weighs both sides after scaling', async () => {
    const base = tf.tensor2d([2, 4, 8, 3], [2, 2]);
    const signal = tf.tensor2d([0.1, 0.05, 0, 0], [2, 2]);
    const blended = blendScores(base, signal, 0.25);
    const expected = [0.75 * 0.5 + 0.25, 0.75 + 0.25 * 0.5, 0.75, 0.75 * 0.375];
    for (const [i, value] of (await blended.data()).entries()) expect(value).toBeCloseTo(expected[i] as number, 6);
    tf.dispose([base, signal, blended]);
  });

  test('shapes that do not fit are refused without a leak', () => {
    const base = tf.zeros<tf.Rank.R2>([2, 3]);
    const signal = tf.zeros<tf.Rank.R2>([3, 2]);
    expect(() => blendScores(base, signal, 0.5)).toThrow(DimensionMismatchError);
    tf.dispose([base, signal]);
  });
});
