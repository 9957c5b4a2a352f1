import { normalCdf } from '../../core/numbers/distributions.ts';
import { type Clusters, sumByCluster } from '../intervals/clusters.ts';
import { assertDifferences } from './paired-differences.ts';
import { countExactFlips } from './sign-flip-permutation.ts';
import { computeSignedRanks, wilcoxonSignedRank } from './wilcoxon-signed-rank.ts';

/** All sign vectors are tried up to this many groups; the normal approximation is good above. */
const EXACT_UP_TO = 12;

/**
 * Wilcoxon's signed-rank test for clustered differences: the magnitudes are ranked over all queries, and under the null hypothesis the signed ranks of a
 * group turn their sign together. T = sum of all signed ranks, z = T / sqrt(sum over groups of (the group's sum)^2); exact for up to 12 groups that
 * differ. With more groups of one it is Wilcoxon's own test.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @returns p, two-sided.
 * @throws ValidationError, DimensionMismatchError, NotFiniteError. Source: rosner2006wilcoxon.
 */
export function clusteredWilcoxon(differences: ArrayLike<number>, clusters: Clusters): number {
  assertDifferences(differences);
  const sums = sumByCluster(clusters, computeSignedRanks(differences)).filter((sum) => sum !== 0);
  const statistic = Math.abs(sums.reduce((total, sum) => total + sum, 0));
  if (sums.length <= EXACT_UP_TO) return countExactFlips(sums, statistic);
  if (clusters.sizes.every((size) => size === 1)) return wilcoxonSignedRank(differences).p;
  const deviation = Math.sqrt(sums.reduce((total, sum) => total + sum ** 2, 0));
  return Math.min(1, 2 * normalCdf(-statistic / deviation, 0, 1));
}
