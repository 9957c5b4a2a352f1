import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requirePackages } from '../required-packages.harness.ts';
import { compileKernel } from '../tensors/kernel-text.harness.ts';
import { openPowerSums } from './power-sums.ts';
import { createRandom } from './random.ts';

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('power-sums.wat', import.meta.url));
  const source = readFileSync(new URL('power-sums.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

/** High words of the limits of fdlibm's cases, 2^-28, ln 2 / 2 and 3 ln 2 / 2, and of the kernel's least number. */
const HIGH_WORDS = [0x3e2fffff, 0x3e300000, 0x3fd62e42, 0x3fd62e43, 0x3ff0a2b1, 0x3ff0a2b2, 0x40861fff, 0x40862000];

function drawNumbers(): Float64Array {
  const source = createRandom(11, 'power-sums.test');
  const drawn = Array.from({ length: 1_000_000 }, (_, i) => -source.uniform() * [750, 50, 5, 2, 0.7, 1e-3][i % 6]!);
  const near = new Float64Array(HIGH_WORDS.length * 10_000);
  const words = new Uint32Array(near.buffer);
  for (let i = 0; i < near.length; i++)
    words.set([source.integer(2 ** 32), (HIGH_WORDS[i % HIGH_WORDS.length] as number) | 0x8000_0000], 2 * i);
  const edges = [0, -0, -(2 ** -28), -5e-324, -1e-300, -707.9999, -708, -708.3964185322641, -745.1332191019411, -745.2];
  const others = [2 ** -28, 1, 2, 709.782712893384, 709.782712893385, Number.NaN, 1 / 0, -1 / 0];
  return Float64Array.from([...drawn, ...near, ...edges, ...others]);
}

test('each power has the bits of Math.exp of this engine, as the first and as the second of two', () => {
  const powers = openPowerSums();
  const numbers = drawNumbers();
  const find = (place: number) =>
    numbers.find((number) => {
      powers.numbers.set([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]); // a power of 0
      powers.numbers[place] = number;
      return !Object.is(powers.add(2, 0, 0), Math.exp(number));
    });
  expect([find(0), find(1)]).toEqual([undefined, undefined]);
});

test.each([0, 1, 2, 3, 10, 17, 9001])('the sum of %d powers is that of a loop, one after the other', (count) => {
  const source = createRandom(count, 'power-sums.test/sum');
  const numbers = Float64Array.from({ length: count }, () => 20 * (source.uniform() - 0.9));
  const powers = openPowerSums();
  powers.reserve(count);
  powers.numbers.set(numbers);
  const expected = numbers.reduce((sum, number) => sum + Math.exp(number - 1.7), 0.25);
  expect(powers.add(count, 1.7, 0.25)).toBe(expected);
});

test.each([
  ['a ring of 12', 12],
  ['a line', 2 ** 31 - 1],
])('numbers are scaled by their distances on %s, and the greatest is found', (_, ring) => {
  const source = createRandom(13, 'power-sums.test/scale');
  const draw = (length: number) => Float64Array.from({ length }, () => source.uniform() - 0.5);
  const [slope, offset, numbers] = [draw(10), draw(10), draw(7)];
  const powers = openPowerSums();
  powers.keepTerms(11, { slope, offset });
  powers.numbers.set(numbers, 2);
  const distances = [3, 4, 5, 6, 7, 8, 9].map((steps) => Math.min(steps, ring - steps));
  const expected = distances.map((d, i) => numbers[i]! * slope[d]! + offset[d]!);
  expect(powers.scale(2, 9, 3, ring, -9)).toBe(Math.max(...expected));
  expect([...powers.numbers.subarray(2, 9)]).toEqual(expected);
  expect(powers.scale(2, 2, 3, ring, 0.25)).toBe(0.25);
});

test('terms make room for the numbers before them', () => {
  const powers = openPowerSums();
  const { length } = powers.numbers;
  powers.keepTerms(length, { slope: Float64Array.of(2), offset: Float64Array.of(0.5) });
  powers.numbers[length - 1] = 3;
  expect(powers.scale(length - 1, length, 0, 9, 0)).toBe(6.5);
});

test('room is kept, and grows', () => {
  const powers = openPowerSums();
  const { numbers } = powers;
  powers.reserve(numbers.length);
  expect(powers.numbers).toBe(numbers);
  powers.reserve(numbers.length + 1);
  expect(powers.numbers.length).toBeGreaterThan(numbers.length);
});
