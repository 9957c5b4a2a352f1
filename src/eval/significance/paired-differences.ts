import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';

/**
 * Differences up to this magnitude, and magnitudes that differ by at most this, are ties: the order of summation
 * changes the last digits.
 */
export const TIE = 1e-12;

/** Treatment minus baseline, query by query. @throws DimensionMismatchError when the lengths differ. */
export function computePairedDifferences(treatment: ArrayLike<number>, baseline: ArrayLike<number>): Float64Array {
  if (treatment.length !== baseline.length)
    throw new DimensionMismatchError('paired values', baseline.length, treatment.length);
  return Float64Array.from(treatment, (value, i) => value - (baseline[i] as number));
}

/** A deviation below this share of the mean is 0: the order of summation changes the last digits. */
const ROUNDING = 1e-12;

interface Moments {
  readonly count: number;
  readonly mean: number;
  /** Sample standard deviation, with n - 1; 0 if it is within the rounding of the mean. */
  readonly deviation: number;
}

/** @throws ValidationError for fewer than 2 differences, NotFiniteError naming the place. */
export function assertDifferences(differences: ArrayLike<number>): void {
  const count = differences.length;
  if (count < 2) throw new ValidationError(`paired test of ${count} differences; pass at least 2`, { count });
  for (let i = 0; i < count; i++) {
    const difference = differences[i] as number;
    if (!Number.isFinite(difference)) throw new NotFiniteError('difference', `query ${i}`, difference);
  }
}

/**
 * @param differences [Q], at least 2.
 * @throws as {@link assertDifferences} does.
 */
export function computeMoments(differences: ArrayLike<number>): Moments {
  assertDifferences(differences);
  const count = differences.length;
  let sum = 0;
  for (let i = 0; i < count; i++) sum += differences[i] as number;
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += ((differences[i] as number) - mean) ** 2;
  const deviation = Math.sqrt(squares / (count - 1));
  return { count, mean, deviation: deviation <= ROUNDING * Math.abs(mean) ? 0 : deviation };
}

/**
 * Cohen's d of paired values: mean difference / sample standard deviation of the differences. 0 without any difference,
 * infinite for a constant one.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @throws ValidationError for fewer than 2, NotFiniteError. Source: cohen1988power.
 */
export function cohenD(differences: ArrayLike<number>): number {
  const { mean, deviation } = computeMoments(differences);
  return mean === 0 ? 0 : mean / deviation;
}
