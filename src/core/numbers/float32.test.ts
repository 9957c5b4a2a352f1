import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { requirePackages } from '../required-packages.harness.ts';
import { useBackend } from '../tensors/backend.ts';
import { compileKernel } from '../tensors/kernel-text.harness.ts';
import { openFloat32Row } from './float32.ts';
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

/** The first numbers of the row by one of its functions. */
function computeRow(name: 'exp' | 'sigmoid' | 'softmax', numbers: Float32Array): Float32Array {
  const row = openFloat32Row();
  row.reserve(numbers.length);
  row.numbers.set(numbers);
  row[name](numbers.length);
  return row.numbers.slice(0, numbers.length);
}

function launch(compute: (x: tf.Tensor1D) => tf.Tensor, numbers: Float32Array): Float32Array {
  const tensor = tf.tidy(() => compute(tf.tensor1d(numbers)));
  const results = tensor.dataSync() as Float32Array;
  tensor.dispose();
  return results;
}

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('float32.wat', import.meta.url));
  const source = readFileSync(new URL('float32.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

test.each([
  ['exp', (x: tf.Tensor) => tf.exp(x), Math.exp],
  ['sigmoid', (x: tf.Tensor) => tf.sigmoid(x), (x: number) => 1 / (1 + Math.exp(-x))],
] as const)('%s has the bits of the kernel of wasm, and is near float64', (name, compute, exact) => {
  const numbers = drawNumbers();
  const expected = launch(compute, numbers);
  const found = computeRow(name, numbers);
  const apart = numbers.findIndex((_, i) => !Object.is(found[i], expected[i]));
  expect([numbers[apart], found[apart]]).toEqual([numbers[apart], expected[apart]]);
  const far = numbers.findIndex((x, i) => {
    const near = exact(x);
    return near > 1e-37 && near < 3e38 && !(Math.abs(found[i]! / near - 1) < 4e-7);
  });
  expect([numbers[far], found[far]]).toEqual([undefined, undefined]);
});

test.each([1, 2, 3, 4, 5, 41, 1000])('softmax of %i numbers has the bits of the kernels of wasm', (count) => {
  const random = createRandom(count, 'float32/softmax');
  const numbers = Float32Array.from({ length: count }, () => 30 * (random.uniform() - 0.5));
  const row = openFloat32Row();
  row.reserve(count + 3);
  row.numbers.fill(1e9, count, count + 3); // of another row, which must not affect it
  const divideBySum = (powers: tf.Tensor) => tf.div(powers, tf.sum(powers));
  const expected = launch((x) => divideBySum(tf.exp(tf.sub(x, tf.max(x)))), numbers);
  expect(computeRow('softmax', numbers)).toEqual(expected);
});

test('no number stays none', () => {
  expect(computeRow('exp', Float32Array.of(1, Number.NaN))[1]).toBeNaN();
  expect(computeRow('sigmoid', Float32Array.of(1, Number.NaN))[1]).toBeNaN();
});

test('room is kept, and grows', () => {
  const row = openFloat32Row();
  const { numbers } = row;
  row.reserve(numbers.length - 3);
  expect(row.numbers).toBe(numbers);
  row.reserve(numbers.length - 2);
  expect(row.numbers.length).toBeGreaterThan(numbers.length);
});
