/**
 * Numbers of 16 bits as float32, which holds each of them exactly.
 *
 * IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
 *
 * @param bits [N]
 */
export function decodeHalfFloats(bits: Uint16Array): Float32Array {
  const decoded = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) decoded[i] = decodeHalfFloat(bits[i] as number);
  return decoded;
}

function decodeHalfFloat(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
