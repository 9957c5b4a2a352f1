import { ValidationError } from '../../core/errors/errors.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { Clusters } from '../intervals/mean-intervals.ts';
import { computeExactFlipP } from './sign-flip-permutation.ts';

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

/** Corrections for several comparisons at once; each takes p values and returns corrected ones in the same order. */

function assertProbabilities(ps: readonly number[]): void {
  for (const p of ps)
    if (!(p >= 0 && p <= 1)) throw new ValidationError(`p is not in 0 to 1: ${p}; pass probabilities`, { p });
}

/** Indexes of the p values, smallest first. */
function orderAscending(ps: readonly number[]): number[] {
  return ps.map((_, i) => i).sort((a, b) => (ps[a] as number) - (ps[b] as number));
}

/** m p, at most 1. Guards the chance of any false mark. */
export function bonferroni(ps: readonly number[]): number[] {
  assertProbabilities(ps);
  return ps.map((p) => Math.min(1, p * ps.length));
}

/** The i-th smallest p times (m - i + 1), never below its predecessor. Guards the same as Bonferroni and finds more. Source: holm1979. */
export function holm(ps: readonly number[]): number[] {
  assertProbabilities(ps);
  const corrected = new Array<number>(ps.length).fill(1);
  let largest = 0;
  for (const [rank, index] of orderAscending(ps).entries()) {
    largest = Math.max(largest, (ps[index] as number) * (ps.length - rank));
    corrected[index] = Math.min(1, largest);
  }
  return corrected;
}

/** The i-th smallest p times m / i, never above its successor. Guards the share of false marks among the marks. Source: benjamini1995fdr. */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  assertProbabilities(ps);
  const corrected = new Array<number>(ps.length).fill(1);
  const order = orderAscending(ps);
  let smallest = 1;
  for (let rank = order.length; rank >= 1; rank--) {
    const index = order[rank - 1] as number;
    smallest = Math.min(smallest, (ps[index] as number) * (ps.length / rank));
    corrected[index] = smallest;
  }
  return corrected;
}

/** The paired tests by name; all clustered, all two-sided. */
export const TESTS = freezeDeeply(['permutation', 't', 'wilcoxon'] as const);
/** The name of a paired test, one of {@link TESTS}. */
export type TestName = (typeof TESTS)[number];

/** Corrections for testing several systems at once. */
export const CORRECTIONS = freezeDeeply({
  holm,
  'benjamini-hochberg': benjaminiHochberg,
  none: (ps: readonly number[]) => [...ps],
} as const);
/**
 * The name of a correction for multiple comparisons: `holm` for the family-wise error rate, `benjamini-hochberg` for
 * the false discovery rate, or `none`.
 */
export type CorrectionName = keyof typeof CORRECTIONS;
