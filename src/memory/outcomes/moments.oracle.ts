/** The bits of a float64 below the binary point of the smallest one. */
const SCALE = 1074;
/** Digits that a quotient keeps beyond those of float64. */
const ROOM = 200n;

/** A finite float64 times 2^1074, exactly. */
function toInteger(value: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = Number((word >> 52n) & 0x7ffn);
  const fraction = word & 0xfffffffffffffn;
  const magnitude = exponent === 0 ? fraction : (fraction | 0x10000000000000n) << BigInt(exponent - 1);
  return word >> 63n === 1n ? -magnitude : magnitude;
}

/** numerator / denominator / 2^shift as the nearest float64, nearly. */
function divide(numerator: bigint, denominator: bigint, shift: number): number {
  const sign = numerator < 0n ? -1 : 1;
  const magnitude = numerator < 0n ? -numerator : numerator;
  const lengths = magnitude.toString(2).length - denominator.toString(2).length;
  const up = BigInt(Math.max(0, 64 - lengths)) + ROOM;
  const quotient = (magnitude << up) / denominator;
  const excess = quotient.toString(2).length - 64;
  return sign * Number(quotient >> BigInt(Math.max(0, excess))) * 2 ** (Math.max(0, excess) - Number(up) - shift);
}

/** Mean and population variance of float64 values by whole numbers, rounded once. */
export function computeExactMoments(values: readonly number[]): { readonly mean: number; readonly variance: number } {
  const count = BigInt(values.length);
  const whole = values.map(toInteger);
  const sum = whole.reduce((total, value) => total + value, 0n);
  const squares = whole.reduce((total, value) => total + value * value, 0n);
  return {
    mean: divide(sum, count, SCALE),
    variance: divide(squares * count - sum * sum, count * count, 2 * SCALE),
  };
}
