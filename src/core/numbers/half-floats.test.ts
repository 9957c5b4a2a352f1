import { expect, test } from 'vitest';
import { decodeHalfFloats } from './half-floats.ts';

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
