/**
 * Functions of float32 on the host, with the bits of the kernels of the backend `wasm`: a loop over few numbers gives
 * what tensors give, without a launch.
 */

/** The table of powers of two has 32 steps from 1 to 2. */
const STEPS = 32;
const POWERS = Float64Array.from({ length: STEPS }, (_, i) => 2 ** (i / STEPS));
/** 2^e from the least exponent of a float32 on, subnormal ones included. */
const LEAST_EXPONENT = -151;
const SCALES = Float64Array.from({ length: 280 }, (_, i) => 2 ** (LEAST_EXPONENT + i));
/** Below it e^x is 0 in float32, above it infinite. */
const [LEAST, MOST] = [-104, 89];
const STEPS_OF_E = 46.166241308446828; // 32 / ln 2
/** A sum with it is rounded to an integer. */
const ROUNDING = 1.5 * 2 ** 52;
/** Coefficients of a polynomial for 2^r - 1 where |r| <= 1/64. */
const [CUBIC, SQUARE, LINEAR] = [
  0.05550361559341535 / STEPS ** 3,
  0.2402284522445722 / STEPS ** 2,
  0.6931471806916203 / STEPS,
] as const;

/** e^x of a float32, as `expf` of musl computes it, which the kernels of `wasm` call. */
export function computeExp32(x: number): number {
  if (x < LEAST) return 0;
  if (x > MOST) return Number.POSITIVE_INFINITY;
  const steps = STEPS_OF_E * x;
  const whole = steps + ROUNDING - ROUNDING;
  const rest = steps - whole;
  const places = whole | 0;
  const scale = (POWERS[places & (STEPS - 1)] as number) * (SCALES[(places >> 5) - LEAST_EXPONENT] as number);
  const square = rest * rest;
  return Math.fround(((CUBIC * rest + SQUARE) * square + (LINEAR * rest + 1)) * scale);
}

/** Rounds to an integer, and adds 127. */
const SIGMOID_ROUNDING = 12583039;
const MINUS_LOG2_E = Math.fround(-1.4426950216293335);
/** ln 2 in two parts. */
const [LN2_HIGH, LN2_LOW] = [Math.fround(0.693145751953125), Math.fround(0.000001428606765330187)] as const;
/** Coefficients of a polynomial for e^t - 1 where |t| <= ln 2 / 2. */
const SIGMOID_TERMS = [
  -0.9999997019767761, 0.4999915063381195, -0.16667652130126953, 0.04189782217144966, -0.008289290592074394,
].map(Math.fround) as [number, number, number, number, number];
/** From here on the result is 0 or 1. */
const SIGMOID_END = Math.fround(87.33654022216797);

/** 1 / (1 + e^-x) of a float32, as XNNPACK computes it with SIMD of WebAssembly. */
export function computeSigmoid32(x: number): number {
  const round = Math.fround;
  const z = Math.abs(x);
  if (z > SIGMOID_END) return x < 0 ? 0 : 1;
  const exponent = round(round(SIGMOID_ROUNDING + round(z * MINUS_LOG2_E)) - SIGMOID_ROUNDING);
  const scale = SCALES[exponent - LEAST_EXPONENT] as number;
  const t = round(round(z + round(exponent * LN2_HIGH)) + round(exponent * LN2_LOW));
  const [c1, c2, c3, c4, c5] = SIGMOID_TERMS;
  const inner = round(c3 + round(t * round(c4 + round(t * c5))));
  const sum = round(c1 + round(t * round(c2 + round(t * inner))));
  const power = round(scale + round(round(t * scale) * sum));
  const least = round(power / round(power + 1));
  return x < 0 ? least : round(1 - least);
}
