import { LEAST_CLUSTERS } from '../intervals/mean-intervals.ts';
import { LEAST_TRUSTED } from './few-clusters.ts';
import { MOST_SAMPLES } from './sign-flip-permutation.ts';
import { CORRECTIONS, type CorrectionName, type TestName } from './test-names.ts';

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
