import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from './backends.harness.ts';
import { registerGradients } from './gradients.ts';
import { useBackendWithoutLeaks } from './leaks.harness.ts';
import { readBack } from './scope.ts';

const LEFT = [1, 2, 3, 4, 5, 6];
const RIGHT = [0.5, -1, 2, 3, -2, 1];

/** The sum of w_ij of a product, by a and by b, entry by entry, of op(a) [2, 3] and op(b) [3, 2]. */
function differentiateByHand(weights: readonly number[], transposeA: boolean, transposeB: boolean) {
  const placeA = (i: number, k: number) => (transposeA ? k * 2 + i : i * 3 + k);
  const placeB = (k: number, j: number) => (transposeB ? j * 3 + k : k * 2 + j);
  const a = new Array<number>(6).fill(0);
  const b = new Array<number>(6).fill(0);
  for (let i = 0; i < 2; i++)
    for (let j = 0; j < 2; j++)
      for (let k = 0; k < 3; k++) {
        const weight = weights[i * 2 + j] as number;
        a[placeA(i, k)]! += weight * (RIGHT[placeB(k, j)] as number);
        b[placeB(k, j)]! += weight * (LEFT[placeA(i, k)] as number);
      }
  return [a, b];
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])('the gradient of a product with transposeA %s and transposeB %s is that of its sums', async (ofA, ofB) => {
    registerGradients();
    const weights = [1, -2, 3, 0.5];
    const expected = differentiateByHand(weights, ofA, ofB);
    const shapeA: [number, number] = ofA ? [3, 2] : [2, 3];
    const shapeB: [number, number] = ofB ? [2, 3] : [3, 2];
    const flat = await readBack('gradients', () => {
      const parts = tf.grads((a, b) =>
        tf.sum(tf.mul(tf.matMul(a as tf.Tensor2D, b as tf.Tensor2D, ofA, ofB), tf.tensor2d(weights, [2, 2]))),
      )([tf.tensor2d(LEFT, shapeA), tf.tensor2d(RIGHT, shapeB)]);
      expect(parts.map(({ shape }) => shape)).toEqual([shapeA, shapeB]);
      return tf.concat(parts.map((part) => tf.reshape(part, [6])));
    });
    expect([...flat]).toEqual(expected.flat());
  });
});
