import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { expectDifferentiable } from './gradient.oracle.ts';
import { registerGradients } from './gradients.ts';

const MATRIX = [0.3, -1.1, 0.7, 1.9, -0.4, 0.2];
const ROW = [2.1, -0.7, 1.3];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);
  beforeAll(registerGradients);

  /** f(x, row) with a row that is repeated for every row of [2, 3]; the slope by either operand. */
  const cases: [string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor, (a: number, b: number) => number][] = [
    ['add', tf.add, (a, b) => a + b],
    ['sub', tf.sub, (a, b) => a - b],
    ['mul', tf.mul, (a, b) => a * b],
    ['div', tf.div, (a, b) => a / b],
  ];
  test.each(cases)('%s by its first operand and by one that is repeated', async (_, op, host) => {
    await expectDifferentiable(
      (x) => scoped('op', () => op(x, tf.tensor1d(ROW))),
      (x) => x.map((value, i) => host(value, ROW[i % 3]!)),
      MATRIX,
      [2, 3],
    );
    await expectDifferentiable(
      (row) => scoped('op', () => op(tf.tensor2d(MATRIX, [2, 3]), row)),
      (row) => MATRIX.map((value, i) => host(value, row[i % 3]!)),
      ROW,
      [3],
    );
  });

  test('one number for all', async () => {
    await expectDifferentiable(
      (x) => scoped('op', () => tf.mul(tf.tensor2d(MATRIX, [2, 3]), x)),
      ([x]) => MATRIX.map((value) => value * x!),
      [1.7],
      [1],
    );
  });

  test.each([
    ['exp', tf.exp, Math.exp],
    ['sqrt', (x: tf.Tensor) => scoped('op', () => tf.sqrt(tf.mul(x, x))), Math.abs],
  ] as const)('%s', async (_, op, host) => {
    await expectDifferentiable(op as (x: tf.Tensor) => tf.Tensor, (x) => x.map(host), MATRIX, [2, 3]);
  });

  test('sums along an axis, and of all', async () => {
    const sumRowsByHand = (x: number[]) => [0, 3].map((at) => x[at]! + x[at + 1]! + x[at + 2]!);
    await expectDifferentiable((x) => tf.sum(x, 1), sumRowsByHand, MATRIX, [2, 3]);
    await expectDifferentiable((x) => tf.sum(x, -1, true), sumRowsByHand, MATRIX, [2, 3]);
    await expectDifferentiable(
      (x) => tf.sum(x),
      (x) => [sumRowsByHand(x)[0]! + sumRowsByHand(x)[1]!],
      MATRIX,
      [2, 3],
    );
  });
});
