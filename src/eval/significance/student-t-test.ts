import { tCdf, tQuantile } from '../../core/numbers/distributions.ts';
import { computeMoments } from './paired-differences.ts';

/** A paired t test: the statistic t, its p, and the confidence interval of the mean difference, treatment minus baseline. */
export interface StudentTTest {
  readonly t: number;
  readonly degreesOfFreedom: number;
  /** Two-sided. */
  readonly p: number;
  /** Treatment minus baseline. */
  readonly meanDifference: number;
  /** The interval of the mean difference, at the given level. */
  readonly interval: readonly [low: number, high: number];
}

/**
 * Paired t test: t = mean / (s / sqrt(n)) with n - 1 degrees of freedom. Treats the differences as independent: for clustered queries use
 * the clustered permutation. Without any difference t is 0 and p is 1; with one constant difference t is infinite and p is 0, their limits.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @throws ValidationError for fewer than 2, NotFiniteError.
 */
export function pairedTTest(differences: ArrayLike<number>, level = 0.95): StudentTTest {
  const { count, mean, deviation } = computeMoments(differences);
  const degreesOfFreedom = count - 1;
  const error = deviation / Math.sqrt(count);
  const t = mean === 0 ? 0 : mean / error;
  const reach = tQuantile(1 - (1 - level) / 2, degreesOfFreedom) * error;
  return {
    t,
    degreesOfFreedom,
    p: 2 * tCdf(-Math.abs(t), degreesOfFreedom),
    meanDifference: mean,
    interval: [mean - reach, mean + reach],
  };
}
