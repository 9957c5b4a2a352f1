import type { Clusters } from '../intervals/clusters.ts';
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
