import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../tensors/backend.ts';
import { computeExp32, computeSigmoid32 } from './float32.ts';
import { createRandom } from './random.ts';

beforeAll(() => useBackend('wasm'));

/** Numbers of all sizes, and those at which something changes. */
function drawNumbers(): Float32Array {
  const random = createRandom(7, 'float32');
  const drawn = Array.from({ length: 200_000 }, (_, i) => (random.uniform() - 0.5) * [250, 40, 4, 1e-3][i % 4]!);
  const edges = [
    0, -0, 1, -1, 1e-45, -1e-45, 1e30, -1e30, 88.72284, 88.73, 89, -87.33655, -87.34, -103.97, -103.98, -104,
  ];
  return Float32Array.from([...drawn, ...edges, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
}

test.each([
  ['exp', computeExp32, (x: tf.Tensor) => tf.exp(x), Math.exp],
  ['sigmoid', computeSigmoid32, (x: tf.Tensor) => tf.sigmoid(x), (x: number) => 1 / (1 + Math.exp(-x))],
] as const)('%s has the bits of the kernel of wasm, and is near float64', (_, compute, launch, exact) => {
  const numbers = drawNumbers();
  const tensor = tf.tidy(() => launch(tf.tensor1d(numbers)));
  const expected = tensor.dataSync();
  tensor.dispose();
  const found = numbers.map(compute);
  const apart = numbers.findIndex((_, i) => !Object.is(found[i], expected[i]));
  expect([numbers[apart], found[apart]]).toEqual([numbers[apart], expected[apart]]);
  const far = numbers.findIndex((x, i) => {
    const near = exact(x);
    return near > 1e-37 && near < 3e38 && !(Math.abs(found[i]! / near - 1) < 4e-7);
  });
  expect([numbers[far], found[far]]).toEqual([undefined, undefined]);
});

test('no number stays none', () => {
  expect(computeExp32(Number.NaN)).toBeNaN();
  expect(computeSigmoid32(Number.NaN)).toBeNaN();
});
