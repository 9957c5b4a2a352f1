import { expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { invertCholesky } from './cholesky.ts';

/** YᵀY of random rows in float32. Row-major [K, K] */
function drawGram(size: number, rows: number, ratio: number): Float32Array {
  const stream = createRandom(size, 'cholesky.test');
  const y = Array.from({ length: rows }, () =>
    Float64Array.from({ length: size }, (_, i) => stream.drawNormal() * ratio ** i),
  );
  return Float32Array.from({ length: size * size }, (_, at) =>
    y.reduce((sum, row) => sum + row[Math.floor(at / size)]! * row[at % size]!, 0),
  );
}

/** Each number from its formula, as a sum from the left. */
function invertByLoops(gram: Float32Array, size: number, shift: number): Float32Array {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) {
      let value = gram[i * size + j]! + (i === j ? shift : 0);
      for (let k = 0; k < j; k++) value -= lower[i * size + k]! * lower[j * size + k]!;
      lower[i * size + j] = i === j ? Math.sqrt(Math.max(value, shift)) : value / lower[j * size + j]!;
    }
  const inverse = new Float64Array(size * size);
  for (let unit = 0; unit < size; unit++) {
    inverse[unit * size + unit] = 1 / lower[unit * size + unit]!;
    for (let i = unit + 1; i < size; i++) {
      let sum = 0;
      for (let k = unit; k < i; k++) sum += lower[i * size + k]! * inverse[unit * size + k]!;
      inverse[unit * size + i] = -sum / lower[i * size + i]!;
    }
  }
  return Float32Array.from(inverse);
}

test.each([
  ['of one column', 1, 3, 1],
  ['of two columns', 2, 5, 1],
  ['of a column more than four', 5, 7, 1],
  ['of eight columns', 8, 11, 1],
  ['of a prime number of columns', 61, 67, 1],
  ['of columns of falling length', 31, 37, 0.7],
  ['of dependent columns', 41, 13, 1],
  ['of zeros', 7, 0, 1],
])('the inverse of a factor %s has the bits of plain loops', (_, size, rows, ratio) => {
  const gram = drawGram(size, rows, ratio);
  const shift = 2 ** -23 * size * gram.reduce((largest, value) => Math.max(largest, value), 2 ** -40);
  const before = gram.slice();
  expect(invertCholesky(gram, size, shift)).toEqual(invertByLoops(gram, size, shift));
  expect(gram).toEqual(before);
});

test('the columns of a matrix times the inverse are orthonormal', () => {
  const [size, shift] = [29, 1e-3];
  const gram = drawGram(size, 43, 1);
  const inverse = invertCholesky(gram, size, shift);
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++) {
      let product = 0;
      for (let k = 0; k < size; k++)
        for (let l = 0; l < size; l++)
          product += inverse[k * size + i]! * (gram[k * size + l]! + (k === l ? shift : 0)) * inverse[l * size + j]!;
      expect(product).toBeCloseTo(i === j ? 1 : 0, 4);
    }
});
