import type { Clusters } from '../intervals/clusters.ts';
import { LEAST_CLUSTERS } from '../intervals/mean-intervals.ts';
import { computeExactFlipP, MOST_SAMPLES } from './sign-flip-permutation.ts';
import { CORRECTIONS, type CorrectionName, type TestName } from './test-names.ts';

/**
 * Below this number of clusters the tails of a t distribution are not reliable. With 6 clusters the t test marks .15 of
 * 25 arms that differ by nothing if their differences are uniform, and .8 if they have two values; with 20 it marks .07
 * and .06 of them, with 30 .06 and .03.
 */
export const LEAST_TRUSTED = 30;

/**
 * The p of a column that may decide: of few clusters the larger one of the p of its test and the p of all sign vectors,
 * so that no choice of a test decides what the signs of the clusters cannot. Under both tests together a false mark is
 * as rare as under the exact one.
 */
export function confirmByFlips(p: number, differences: ArrayLike<number>, clusters: Clusters): number {
  return clusters.sizes.length < LEAST_TRUSTED ? Math.max(p, computeExactFlipP(differences, clusters)) : p;
}

/**
 * The smallest p that a test of G clusters can reach, for any differences. Sign flips, by which a p of few clusters is
 * confirmed, and signed ranks: two of 2^G sign vectors are as extreme, and a sampled p is not below 1 / (samples + 1).
 * The t test reaches any p from {@link LEAST_TRUSTED} clusters on, so that it is 0; with one or two clusters it is not
 * made.
 */
export function computeSmallestP(test: TestName, clusters: number): number {
  const two = 2 ** (1 - clusters);
  if (test === 't' && clusters < LEAST_CLUSTERS) return 1;
  if (test === 't' && clusters >= LEAST_TRUSTED) return 0;
  return test === 'permutation' ? Math.max(two, 1 / (MOST_SAMPLES + 1)) : two;
}

/** The smallest corrected p of a table: {@link computeSmallestP}, corrected over a number of columns that all reach it. */
export function computeSmallestCorrectedP(
  test: TestName,
  correction: CorrectionName,
  clusters: number,
  columns: number,
): number {
  const [corrected = 1] = CORRECTIONS[correction](new Array(columns).fill(computeSmallestP(test, clusters)));
  return corrected;
}
