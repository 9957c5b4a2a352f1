import normalCdf from '@stdlib/stats-base-dists-normal-cdf';
import { ValidationError } from '../core/errors.ts';
import { assertDifferences } from './paired-differences.ts';

export interface WilcoxonTest {
  /** The smaller of the rank sums of the positive and of the negative differences. */
  readonly w: number;
  /** Two-sided. */
  readonly p: number;
  readonly method: 'exact' | 'normal';
}

/** Above this many differences the exact distribution is no better than the normal one, and its counts near the end of float64's whole numbers. */
const EXACT_UP_TO = 50;

interface SignedRanks {
  /** Differences that are not 0. */
  readonly count: number;
  readonly w: number;
  /** Sum over groups of t equal magnitudes of t^3 - t. */
  readonly ties: number;
}

/** Ranks the magnitudes, equal ones by their middle rank; zeros are left out. */
function signedRanks(differences: ArrayLike<number>): SignedRanks {
  const kept = Array.from(differences)
    .filter((difference) => difference !== 0)
    .sort((a, b) => Math.abs(a) - Math.abs(b));
  let positive = 0;
  let ties = 0;
  for (let start = 0, end = 0; start < kept.length; start = end) {
    while (end < kept.length && Math.abs(kept[end] as number) === Math.abs(kept[start] as number)) end++;
    const rank = (start + 1 + end) / 2;
    positive += rank * kept.slice(start, end).filter((difference) => difference > 0).length;
    ties += (end - start) ** 3 - (end - start);
  }
  const all = (kept.length * (kept.length + 1)) / 2;
  return { count: kept.length, w: Math.min(positive, all - positive), ties };
}

/** P(W <= w) over all 2^n sign vectors: counts the subsets of the ranks 1 … n by their sum. */
function exactTail(count: number, w: number): number {
  const subsets = new Float64Array((count * (count + 1)) / 2 + 1);
  subsets[0] = 1;
  for (let rank = 1; rank <= count; rank++)
    for (let sum = subsets.length - 1; sum >= rank; sum--)
      subsets[sum] = (subsets[sum] as number) + (subsets[sum - rank] as number);
  return subsets.subarray(0, w + 1).reduce((total, ways) => total + ways, 0) / 2 ** count;
}

function normalP({ count, w, ties }: SignedRanks): number {
  const mean = (count * (count + 1)) / 4;
  const variance = (count * (count + 1) * (2 * count + 1)) / 24 - ties / 48;
  return Math.min(1, 2 * normalCdf((w - mean) / Math.sqrt(variance), 0, 1));
}

/**
 * Wilcoxon's signed-rank test of the median difference. Zero differences are left out (Wilcoxon's own rule); without any other p is 1. `auto` is exact
 * for up to 50 distinct magnitudes, else the normal approximation with the correction for ties and none for continuity.
 *
 * @param differences [Q] treatment minus baseline, at least 2.
 * @throws ValidationError for fewer than 2 or for an exact test with ties, NotFiniteError. Source: wilcoxon1945.
 */
export function wilcoxonSignedRank(
  differences: ArrayLike<number>,
  method: 'auto' | 'exact' | 'normal' = 'auto',
): WilcoxonTest {
  assertDifferences(differences);
  const ranks = signedRanks(differences);
  const exactHolds = ranks.ties === 0 && ranks.count <= EXACT_UP_TO;
  if (method === 'exact' && !exactHolds)
    throw new ValidationError(`exact signed-rank test needs up to ${EXACT_UP_TO} distinct magnitudes: ${ranks.count}`);
  if (ranks.count === 0) return { w: 0, p: 1, method: 'exact' };
  const exact = method !== 'normal' && exactHolds;
  return {
    w: ranks.w,
    p: exact ? Math.min(1, 2 * exactTail(ranks.count, ranks.w)) : normalP(ranks),
    method: exact ? 'exact' : 'normal',
  };
}
