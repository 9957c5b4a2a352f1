import { computeMoments } from './paired-differences.ts';

/**
 * Cohen's d of paired values: mean difference / sample standard deviation of the differences. 0 without any difference, infinite for a constant one.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @throws ValidationError for fewer than 2, NotFiniteError. Source: cohen1988power.
 */
export function cohenD(differences: ArrayLike<number>): number {
  const { mean, deviation } = computeMoments(differences);
  return mean === 0 ? 0 : mean / deviation;
}
