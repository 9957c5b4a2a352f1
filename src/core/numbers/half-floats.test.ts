import { expect, test } from 'vitest';
import { decodeHalfFloats, encodeHalfFloats } from './half-floats.ts';

/** By Python: `struct.unpack('<e', struct.pack('<H', bits))`. */
const CASES: readonly (readonly [number, number])[] = [
  [0x0000, 0],
  [0x8000, -0],
  [0x0001, 2 ** -24],
  [0x03ff, 6.097555160522461e-5],
  [0x0400, 6.103515625e-5],
  [0x2e66, 0.0999755859375],
  [0x3555, 0.333251953125],
  [0x3c00, 1],
  [0xc000, -2],
  [0x7bff, 65504],
  [0xfbff, -65504],
  [0x7c00, Number.POSITIVE_INFINITY],
  [0xfc00, Number.NEGATIVE_INFINITY],
  [0x7e01, Number.NaN],
];

test('16 bits become the number that they stand for', () => {
  const decoded = decodeHalfFloats(Uint16Array.from(CASES, ([bits]) => bits));
  expect([...decoded]).toEqual(CASES.map(([, value]) => value));
});

test('all finite numbers of one sign are in the order of their bits', () => {
  const decoded = decodeHalfFloats(Uint16Array.from({ length: 0x7c00 }, (_, bits) => bits));
  expect(decoded.every((value, bits) => bits === 0 || value > (decoded[bits - 1] as number))).toBe(true);
});

/** By Python: `struct.pack('<e', value)`, of values that float32 holds and binary16 does not. */
const ROUNDED: readonly (readonly [number, number])[] = [
  [1 / 3, 0x3555],
  [0.1, 0x2e66],
  [2049, 0x6800], // a tie to the even number below
  [2051, 0x6802], // and to the one above
  [1 + 2 ** -11, 0x3c00],
  [1 + 3 * 2 ** -11, 0x3c02],
  [65519.996, 0x7bff],
  [2 ** -14 * (1 - 2 ** -12), 0x0400],
  [2 ** -25, 0x0000],
  [1.0001 * 2 ** -25, 0x0001],
  [3 * 2 ** -25, 0x0002],
  [5 * 2 ** -25, 0x0002],
];

test('a number becomes the nearest one of 16 bits, of two the even one', () => {
  const values = Float32Array.from(ROUNDED, ([value]) => value);
  const bits = ROUNDED.map(([, expected]) => expected);
  expect([...encodeHalfFloats(values)]).toEqual(bits);
  expect([...encodeHalfFloats(values.map((value) => -value))]).toEqual(bits.map((expected) => expected | 0x8000));
  expect([...encodeHalfFloats(Float32Array.of(65520, 1e30, Number.NEGATIVE_INFINITY))]).toEqual([
    0x7c00, 0x7c00, 0xfc00,
  ]);
  expect(decodeHalfFloats(encodeHalfFloats(Float32Array.of(Number.NaN)))).toEqual(Float32Array.of(Number.NaN));
});

test('every number of 16 bits keeps its bits', () => {
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i).filter((i) => (i & 0x7fff) <= 0x7c00);
  expect(encodeHalfFloats(decodeHalfFloats(bits))).toEqual(bits);
});
