import { once } from '../values/once.ts';

/**
 * Numbers of 16 bits as float32, which holds each of them exactly.
 *
 * IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
 *
 * @param bits [N]
 */
export function decodeHalfFloats(bits: Uint16Array): Float32Array {
  const values = listHalfFloats(); // a model has millions of them
  const decoded = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) decoded[i] = values[bits[i] as number] as number;
  return decoded;
}

/** [65536] the number of each pattern of bits. */
const listHalfFloats = once(() => Float32Array.from({ length: 2 ** 16 }, (_, bits) => decodeHalfFloat(bits)));

function decodeHalfFloat(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const [SIGN, INFINITE, NO_NUMBER] = [0x8000, 0x7c00, 0x7e00];
/** Bits of float32: infinity; the least number that rounds to infinity in binary16; the least normal binary16, 2^-14. */
const [INFINITE_BITS, TOO_LARGE_BITS, NORMAL_BITS] = [0x7f800000, 0x477ff000, 0x38800000];
/** The exponent of float32 less that of binary16, in the bits of float32. */
const REBIAS = (127 - 15) << 23;

/**
 * Numbers as IEEE 754 binary16, rounded to the nearest, ties to even. A number from 65520 on becomes infinite.
 *
 * @param values [N]
 */
export function encodeHalfFloats(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const encoded = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) encoded[i] = encodeHalfFloat(values[i] as number, bits[i] as number);
  return encoded;
}

function encodeHalfFloat(value: number, bits: number): number {
  const sign = (bits >>> 16) & SIGN;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > INFINITE_BITS) return sign | NO_NUMBER;
  if (magnitude >= TOO_LARGE_BITS) return sign | INFINITE;
  if (magnitude < NORMAL_BITS) return sign | roundToEven(Math.abs(value) * 2 ** 24);
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - REBIAS) >>> 13);
}

function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/**
 * Numbers of 16 bits in the format bfloat16 as float32: the upper half of its bits.
 *
 * @param bits [N]
 */
export function decodeBrainFloats(bits: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(bits, (upper) => upper << 16).buffer);
}
