import { ValidationError } from '../../core/errors/errors.ts';
import { normalCdf } from '../../core/numbers/distributions.ts';
import { type Clusters, sumByCluster } from '../intervals/mean-intervals.ts';
import { assertDifferences, TIE } from './paired-differences.ts';
import { countExactFlips } from './sign-flip-permutation.ts';

/** Wilcoxon's signed-rank test of paired differences: the statistic w, its p, and whether p is from the exact distribution or the normal approximation. */
export interface WilcoxonTest {
  /** The smaller of the rank sums of the positive and of the negative differences. */
  readonly w: number;
  /** Two-sided. */
  readonly p: number;
  readonly method: 'exact' | 'normal';
}

/** Above this many differences the exact distribution is no better than the normal one, and its counts near the end of float64's whole numbers. */
const EXACT_UP_TO = 50;

interface RankSums {
  /** Differences that are no tie. */
  readonly count: number;
  readonly w: number;
  /** Sum over groups of t equal magnitudes of t^3 - t. */
  readonly ties: number;
}

/** The pairs whose difference is no tie, by magnitude ascending, in runs of equal ones. */
function findEqualRuns(differences: ArrayLike<number>, tie: number): number[][] {
  const measureDifference = (pair: number) => Math.abs(differences[pair] as number);
  const pairs = Array.from(differences, (_, pair) => pair).filter((pair) => measureDifference(pair) > tie);
  const runs: number[][] = [];
  for (const pair of pairs.sort((a, b) => measureDifference(a) - measureDifference(b))) {
    const last = runs.at(-1);
    if (last !== undefined && measureDifference(pair) - measureDifference(last[0] as number) <= tie) last.push(pair);
    else runs.push([pair]);
  }
  return runs;
}

/**
 * The rank of each difference's magnitude with the difference's sign, equal magnitudes having their middle rank; 0 for a difference of 0, which is not ranked.
 *
 * @param tie magnitudes within it are equal.
 * @returns [Q]
 */
function computeSignedRanks(differences: ArrayLike<number>, tie: number = TIE): Float64Array {
  const ranks = new Float64Array(differences.length);
  let before = 0;
  for (const run of findEqualRuns(differences, tie)) {
    for (const pair of run) ranks[pair] = Math.sign(differences[pair] as number) * (before + (run.length + 1) / 2);
    before += run.length;
  }
  return ranks;
}

function rankSums(differences: ArrayLike<number>, tie: number): RankSums {
  const runs = findEqualRuns(differences, tie);
  const count = runs.reduce((total, run) => total + run.length, 0);
  const ties = runs.reduce((total, { length }) => total + length ** 3 - length, 0);
  const positive = computeSignedRanks(differences, tie).reduce((total, rank) => total + Math.max(rank, 0), 0);
  return { count, w: Math.min(positive, (count * (count + 1)) / 2 - positive), ties };
}

/** P(W <= w) over all 2^n sign vectors: counts the subsets of the ranks 1 … n by their sum. */
function countExactTail(count: number, w: number): number {
  const subsets = new Float64Array((count * (count + 1)) / 2 + 1);
  subsets[0] = 1;
  for (let rank = 1; rank <= count; rank++)
    for (let sum = subsets.length - 1; sum >= rank; sum--)
      subsets[sum] = (subsets[sum] as number) + (subsets[sum - rank] as number);
  return subsets.subarray(0, w + 1).reduce((total, ways) => total + ways, 0) / 2 ** count;
}

function computeNormalP({ count, w, ties }: RankSums): number {
  const mean = (count * (count + 1)) / 4;
  const variance = (count * (count + 1) * (2 * count + 1)) / 24 - ties / 48;
  return Math.min(1, 2 * normalCdf((w - mean) / Math.sqrt(variance), 0, 1));
}

/**
 * Wilcoxon's signed-rank test of the median difference. Zero differences are left out (Wilcoxon's own rule); without any other p is 1. `auto` is exact
 * for up to 50 distinct magnitudes, else the normal approximation with the correction for ties and none for continuity.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @param tie magnitudes within it are equal; 0 compares every bit, as scipy does.
 * @throws ValidationError for fewer than 2 or for an exact test with ties, NotFiniteError. Source: wilcoxon1945.
 */
export function wilcoxonSignedRank(
  differences: ArrayLike<number>,
  method: 'auto' | 'exact' | 'normal' = 'auto',
  tie: number = TIE,
): WilcoxonTest {
  assertDifferences(differences);
  const ranks = rankSums(differences, tie);
  const exactHolds = ranks.ties === 0 && ranks.count <= EXACT_UP_TO;
  if (method === 'exact' && !exactHolds)
    throw new ValidationError(
      `exact signed-rank test of ${ranks.count} distinct magnitudes, more than ${EXACT_UP_TO}; use the normal approximation`,
    );
  if (ranks.count === 0) return { w: 0, p: 1, method: 'exact' };
  const exact = method !== 'normal' && exactHolds;
  return {
    w: ranks.w,
    p: exact ? Math.min(1, 2 * countExactTail(ranks.count, ranks.w)) : computeNormalP(ranks),
    method: exact ? 'exact' : 'normal',
  };
}

/** All sign vectors are tried up to this many groups; the normal approximation is good above. */
const ENUMERATED_UP_TO = 12;

/**
 * Wilcoxon's signed-rank test for clustered differences: the magnitudes are ranked over all queries, and under the null
 * hypothesis the signed ranks of a group turn their sign together. T = sum of all signed ranks, z = T / sqrt(sum over
 * groups of (the group's sum)^2); exact for up to 12 groups that differ. With more groups of one it is Wilcoxon's own
 * test.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @returns p, two-sided.
 * @throws ValidationError, DimensionMismatchError, NotFiniteError. Source: rosner2006wilcoxon.
 */
export function clusteredWilcoxon(differences: ArrayLike<number>, clusters: Clusters): number {
  assertDifferences(differences);
  const sums = sumByCluster(clusters, computeSignedRanks(differences)).filter((sum) => sum !== 0);
  const statistic = Math.abs(sums.reduce((total, sum) => total + sum, 0));
  if (sums.length <= ENUMERATED_UP_TO) return countExactFlips(sums, statistic);
  if (clusters.sizes.every((size) => size === 1)) return wilcoxonSignedRank(differences).p;
  const deviation = Math.sqrt(sums.reduce((total, sum) => total + sum ** 2, 0));
  return Math.min(1, 2 * normalCdf(-statistic / deviation, 0, 1));
}
