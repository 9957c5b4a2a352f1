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

/**
 * Numbers of 16 bits in the format bfloat16 as float32: the upper half of its bits.
 *
 * @param bits [N]
 */
export function decodeBrainFloats(bits: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(bits, (upper) => upper << 16).buffer);
}
