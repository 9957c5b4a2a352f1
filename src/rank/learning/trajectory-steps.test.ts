import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { expectDifferentiable } from './gradient.oracle.ts';
import { computeCandidateShares, computePower, computeQueryShares, divideByRowMaximum } from './trajectory-steps.ts';

const MATRIX = [0.3, 1.1, 0.7, 1.9, 0.4, 0.2];
const LIKENESS = [0.9, 0.1, 0.5, 0.7, 0.3, 0.8];
const MASK = [1, 1, 0, 1, 1, 1];
const chunkRows = (x: number[], width: number) =>
  Array.from({ length: x.length / width }, (_, i) => x.slice(i * width, (i + 1) * width));
const softmax = (row: number[], mask = row.map(() => 1)) => {
  const sum = row.reduce((total, value, i) => total + mask[i]! * Math.exp(value), 0);
  return row.map((value, i) => (mask[i]! * Math.exp(value)) / sum);
};

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('powers of what is not positive', async () => {
    const negative = MATRIX.map((value) => -3 * value);
    await expectDifferentiable(
      (x) => scoped('op', () => computePower(x)),
      (x) => x.map(Math.exp),
      negative,
      [2, 3],
    );
  });

  test('rows divided by their maximum', async () => {
    const computeStepOnHost = (x: number[]) =>
      chunkRows(x, 3).flatMap((row) => row.map((value) => value / Math.max(...row)));
    await expectDifferentiable(
      (x) => scoped('op', () => divideByRowMaximum(x as tf.Tensor2D)),
      computeStepOnHost,
      MATRIX,
      [2, 3],
    );
  });

  test('a row without anything positive stays 0 and has no slope; equal maxima share theirs', async () => {
    const x = tf.tensor2d([0, 0, 0, 2, 2, 1], [2, 3]);
    const dy = tf.tensor2d([1, 1, 1, 0, 0, 1], [2, 3]);
    const value = scoped('op', () => divideByRowMaximum(x));
    const slope = tf.grad((given) => divideByRowMaximum(given as tf.Tensor2D))(x, dy);
    expect([...(await value.data())]).toEqual([0, 0, 0, 1, 1, 0.5]);
    expect([...(await slope.data())]).toEqual([0, 0, 0, -0.125, -0.125, 0.5]);
    tf.dispose([x, dy, value, slope]);
  });

  test('a row that has faded to subnormal numbers becomes 0', async () => {
    const x = tf.tensor2d([2 ** -140, 0, 2, 1], [2, 2]);
    const value = scoped('op', () => divideByRowMaximum(x));
    expect([...(await value.data())]).toEqual([0, 0, 1, 0.5]);
    tf.dispose([x, value]);
  });

  const computeDecayedLogits = (likeness: number[], distance: number[], decay: number, temperature: number) =>
    likeness.map((value, i) => (value * Math.exp(-decay * distance[i]!)) / temperature);

  test('shares among what is admissible, by distance, decay and temperature', async () => {
    const computeStepOnHost = (distance: number[], decay = 0.7, temperature = 0.3) =>
      chunkRows(computeDecayedLogits(LIKENESS, distance, decay, temperature), 3).flatMap((row, i) =>
        softmax(row, MASK.slice(3 * i, 3 * i + 3)),
      );
    const likeness = tf.tensor2d(LIKENESS, [2, 3]);
    const mask = tf.tensor2d(MASK, [2, 3]);
    const uploadNumber = (value: number) => tf.tensor1d([value]);
    const computeShareOp = (distance: tf.Tensor, decay: tf.Tensor, temperature: tf.Tensor) =>
      computeCandidateShares(
        { likeness, distance: distance as tf.Tensor2D },
        mask,
        decay as tf.Tensor1D,
        temperature as tf.Tensor1D,
      );
    const uploadDistances = () => tf.tensor2d(MATRIX, [2, 3]);
    const cases = [
      [
        (x: tf.Tensor) => computeShareOp(x, uploadNumber(0.7), uploadNumber(0.3)),
        (x: number[]) => computeStepOnHost(x),
        MATRIX,
        [2, 3],
      ],
      [
        (x: tf.Tensor) => computeShareOp(uploadDistances(), x, uploadNumber(0.3)),
        ([x]: number[]) => computeStepOnHost(MATRIX, x, 0.3),
        [0.7],
        [1],
      ],
      [
        (x: tf.Tensor) => computeShareOp(uploadDistances(), uploadNumber(0.7), x),
        ([x]: number[]) => computeStepOnHost(MATRIX, 0.7, x),
        [0.3],
        [1],
      ],
    ] as const;
    for (const [f, expected, x, shape] of cases)
      await expectDifferentiable((given) => scoped('op', () => f(given)), expected, x, [...shape]);
    tf.dispose([likeness, mask]);
  });

  test('where nothing is admissible there are no shares', async () => {
    const none = scoped('op', () => {
      const parts = { likeness: tf.ones<tf.Rank.R2>([2, 3]), distance: tf.ones<tf.Rank.R2>([2, 3]) };
      return computeCandidateShares(parts, tf.zeros([2, 3]), tf.tensor1d([1]), tf.tensor1d([0.1]));
    });
    expect([...(await none.data())]).toEqual([0, 0, 0, 0, 0, 0]);
    none.dispose();
  });

  test('the share of the query, the first key, by decay and temperature', async () => {
    const bias = [0, -1e30, 0.4, 0, 1.1, -0.3];
    const computeStepOnHost = (decay: number, temperature: number) =>
      chunkRows(
        computeDecayedLogits(LIKENESS, MATRIX, decay, temperature).map((value, i) => value + bias[i]!),
        3,
      ).map((row) => softmax(row)[0]!);
    const [likeness, distance, biases] = [LIKENESS, MATRIX, bias].map((numbers) => tf.tensor3d(numbers, [1, 2, 3])) as [
      tf.Tensor3D,
      tf.Tensor3D,
      tf.Tensor3D,
    ];
    const keys = { likeness, distance, bias: biases };
    const shareByDecay = (x: tf.Tensor) =>
      scoped('op', () => computeQueryShares(keys, x as tf.Tensor1D, tf.tensor1d([0.3])));
    await expectDifferentiable(shareByDecay, ([x]) => computeStepOnHost(x!, 0.3), [0.7], [1]);
    const shareByTemperature = (x: tf.Tensor) =>
      scoped('op', () => computeQueryShares(keys, tf.tensor1d([0.7]), x as tf.Tensor1D));
    await expectDifferentiable(shareByTemperature, ([x]) => computeStepOnHost(0.7, x!), [0.3], [1]);
    tf.dispose([likeness, distance, biases]);
  });
});
