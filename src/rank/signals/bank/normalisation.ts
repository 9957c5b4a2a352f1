/**
 * How the signals of a mix are made comparable: by the mean and deviation of each signal over all candidates of the
 * training rows (`pool`), or over the candidates of each question (`question`).
 */
export const NORMALISATIONS = ['pool', 'question'] as const;
export type Normalisation = (typeof NORMALISATIONS)[number];

/** Bounds of a standardised value: few candidates stand out far above the others of their question, none far below. */
const LEAST = -8;
const MOST = 12;

/** Deviations below this share of the mean are float32 rounding of a constant. */
export const CONSTANT_SHARE = 1e-6;

/** Some columns of the signals of Q x C pairs. */
interface PairSignals {
  /** Row-major [Q, C, stride]. */
  readonly values: Float32Array;
  readonly stride: number;
  /** [F] the columns to standardise. */
  readonly columns: ArrayLike<number>;
  /** C. */
  readonly width: number;
  /** Row-major [Q, C], 1 for a candidate. */
  readonly mask: Uint8Array;
}

/**
 * `(x - mean) / deviation` with the population mean and deviation over the candidates of each question, in two passes
 * of float64, clipped to [-8, 12]; 0 for a signal that is constant over them. O(Q C F).
 *
 * @returns row-major [Q, C, F]; 0 where padded
 */
export function standardiseQuestions({ values, stride, columns, width, mask }: PairSignals): Float32Array {
  const F = columns.length;
  const result = new Float32Array(mask.length * F);
  const means = new Float64Array(F);
  const deviations = new Float64Array(F);
  for (let start = 0; start < mask.length; start += width) {
    const pairs = listCandidates(mask, start, start + width);
    if (pairs.length === 0) continue;
    means.fill(0);
    for (const pair of pairs) for (let f = 0; f < F; f++) means[f]! += values[pair * stride + columns[f]!]!;
    for (let f = 0; f < F; f++) means[f]! /= pairs.length;
    deviations.fill(0);
    for (const pair of pairs)
      for (let f = 0; f < F; f++) deviations[f]! += (values[pair * stride + columns[f]!]! - means[f]!) ** 2;
    for (let f = 0; f < F; f++) deviations[f] = Math.sqrt(deviations[f]! / pairs.length);
    for (const pair of pairs)
      for (let f = 0; f < F; f++) {
        const deviation = deviations[f]!;
        if (!(deviation > CONSTANT_SHARE * Math.abs(means[f]!))) continue;
        const z = (values[pair * stride + columns[f]!]! - means[f]!) / deviation;
        result[pair * F + f] = Math.min(Math.max(z, LEAST), MOST);
      }
  }
  return result;
}

function listCandidates(mask: Uint8Array, start: number, end: number): Int32Array {
  const pairs = new Int32Array(end - start);
  let count = 0;
  for (let pair = start; pair < end; pair++) if (mask[pair] === 1) pairs[count++] = pair;
  return pairs.subarray(0, count);
}
