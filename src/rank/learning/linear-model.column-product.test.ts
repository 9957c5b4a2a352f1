import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { expectDifferentiable } from './gradient.oracle.ts';
import { multiplyColumns, uploadFeatures } from './linear-model.ts';

const [B, C, F] = [3, 7, 5];
const stream = createRandom(3, 'column-product.test');
const matrix = Array.from({ length: B * C * F }, () => stream.drawNormal());
const vector = Array.from({ length: F }, () => stream.drawNormal());

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('is the sum of products, and so is its gradient', async () => {
    const multiplyOnHost = (x: number[]) =>
      Array.from({ length: B * C }, (_, n) => x.reduce((sum, value, f) => sum + value * matrix[n * F + f]!, 0));
    const features = uploadFeatures(Float32Array.from(matrix), [B, C, F]);
    await expectDifferentiable(
      (x) => scoped('op', () => multiplyColumns(features, x as tf.Tensor1D)),
      multiplyOnHost,
      vector,
      [F],
    );
    tf.dispose([features.rows, features.columns]);
  });

  test('weights that do not fit is named', () => {
    const a = uploadFeatures(new Float32Array(30), [2, 5, 3]);
    const b = tf.zeros<tf.Rank.R1>([2]);
    expect(() => multiplyColumns(a, b)).toThrow('shape of weights: expected [F] with B=2, C=5, F=3, got [2]');
    tf.dispose([a.rows, a.columns, b]);
  });
});
