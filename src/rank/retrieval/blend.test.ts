import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { blendTrajectory } from '../signals/trajectory-score.ts';
import { blendScores, divideOnHost, divideScoresByRowMaximum, mixOnHost, multiplyOnHost } from './blend.ts';

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

  test.each([
    [7, 13],
    [5, 1],
    [1, 1],
  ])('loops of the host give the numbers of tensors: %i queries, %i candidates', async (queries, width) => {
    const random = createRandom(5, `blend ${queries} ${width}`);
    // Of few values, so that many are equal; a row of zeros and one of subnormal numbers.
    const draw = () => Float32Array.from({ length: queries * width }, () => random.integer(9) / 7);
    const [base, column] = [draw().fill(0, 0, width), draw()];
    if (queries > 1) base.fill(2 ** -130, width, 2 * width);
    const [weight, rest] = [0.3, 0.2];
    const shape: [number, number] = [queries, width];
    const upload = (values: Float32Array) => tf.tensor2d(values, shape);
    const computed = tf.tidy(() => [
      tf.mul(upload(base), upload(column)),
      blendTrajectory(divideScoresByRowMaximum(upload(base)), upload(column), weight),
      blendScores(upload(base), upload(column), rest),
    ]);
    const expected = await Promise.all(computed.map((tensor) => tensor.data()));
    tf.dispose(computed);
    const divided = divideOnHost(base, width);
    const found = [
      multiplyOnHost(base, column),
      mixOnHost(divided, column, weight),
      mixOnHost(divided, divideOnHost(column, width), rest),
    ];
    // Where the loops are used they have the same bits; other backends may take subnormal numbers for 0.
    if (['wasm', 'cpu'].includes(backend)) expect(found).toEqual(expected);
    for (const [i, values] of found.entries())
      for (const [at, value] of values.entries()) expect(value).toBeCloseTo(expected[i]![at]!, 6);
  });

  test('shapes that do not fit are refused without a leak', () => {
    const base = tf.zeros<tf.Rank.R2>([2, 3]);
    const signal = tf.zeros<tf.Rank.R2>([3, 2]);
    expect(() => blendScores(base, signal, 0.5)).toThrow(DimensionMismatchError);
    tf.dispose([base, signal]);
  });
});
