import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { expectDifferentiable } from './gradient.oracle.ts';
import { multiplyColumns, uploadFeatures } from './linear-model.ts';

const [B, C] = [3, 7];
const stream = createRandom(3, 'column-product.test');

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  // as one block, and as several of which the last is narrower
  test.each([5, 71])('is the sum of products of %i features, and so is its gradient', async (F) => {
    const matrix = Array.from({ length: B * C * F }, () => stream.drawNormal());
    const vector = Array.from({ length: F }, () => stream.drawNormal());
    const multiplyOnHost = (x: number[]) =>
      Array.from({ length: B * C }, (_, n) => x.reduce((sum, value, f) => sum + value * matrix[n * F + f]!, 0));
    const features = uploadFeatures([B, C, F], (start, end) =>
      Float32Array.from(matrix.filter((_, i) => i % F >= start && i % F < end)),
    );
    await expectDifferentiable(
      (x) => scoped('op', () => multiplyColumns(features, x as tf.Tensor1D)),
      multiplyOnHost,
      vector,
      [F],
    );
    tf.dispose([features.columns, ...features.rows]);
  });

  test('weights that do not fit is named', () => {
    const a = uploadFeatures([2, 5, 3], () => new Float32Array(30));
    const b = tf.zeros<tf.Rank.R1>([2]);
    expect(() => multiplyColumns(a, b)).toThrow('shape of weights: expected [F] with F=3, B=2, C=5, got [2]');
    tf.dispose([a.columns, ...a.rows, b]);
  });
});
