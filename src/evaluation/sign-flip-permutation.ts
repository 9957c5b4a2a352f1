import { ValidationError } from '../core/errors.ts';
import { random } from '../core/random.ts';
import { type Clusters, clusterSums } from './clusters.ts';
import { weightedSums } from './weighted-sums.ts';

export interface PermutationTest {
  readonly meanDifference: number;
  /** Two-sided. */
  readonly p: number;
  /** Whether every sign vector was tried. */
  readonly exact: boolean;
}

export interface PermutationOptions {
  /** Sign vectors drawn where there are too many to try them all. */
  readonly samples?: number;
  readonly seed: number;
}

/** All 2^n sign vectors are tried up to this n. */
const EXACT_UP_TO = 12;
/** Sums whose magnitudes differ by less than this share of the largest possible one are equal: the order of summation moves the last digits. */
const ROUNDING = 1e-12;

interface Column {
  /** [G] */
  readonly sums: Float64Array;
  /** Magnitude from which a flipped sum is as extreme as the observed one. */
  readonly threshold: number;
  readonly meanDifference: number;
}

function columnOf(differences: ArrayLike<number>, clusters: Clusters): Column {
  const sums = clusterSums(clusters, differences);
  const observed = sums.reduce((total, sum) => total + sum, 0);
  const largest = sums.reduce((total, sum) => total + Math.abs(sum), 0);
  return {
    sums,
    threshold: Math.abs(observed) - ROUNDING * largest,
    meanDifference: observed / differences.length,
  };
}

/**
 * The share of all sign vectors whose flipped sum has at least this magnitude.
 *
 * @param sums of the groups whose difference is not 0, since the others change nothing; few, as 2^n sums are formed.
 */
export function exactSignFlips(sums: Float64Array, threshold: number): number {
  let totals = [0];
  for (const sum of sums) totals = totals.flatMap((total) => [total + sum, total - sum]);
  return totals.filter((total) => Math.abs(total) >= threshold).length / totals.length;
}

/** Draws each sign vector once for all columns; see {@link weightedSums} for the cost. */
function sampledPs(columns: readonly Column[], groups: number, samples: number, seed: number): number[] {
  const stream = random(seed, 'sign-flip-permutation');
  const signs = new Float64Array(groups);
  const hits = columns.map(() => 0);
  const sumsWith = weightedSums(columns.map(({ sums }) => sums));
  for (let sample = 0; sample < samples; sample++) {
    for (let group = 0; group < groups; group++) signs[group] = 2 * stream.integer(2) - 1;
    sumsWith(signs, (c, total) => {
      if (Math.abs(total) >= (columns[c] as Column).threshold) hits[c] = (hits[c] as number) + 1;
    });
  }
  return hits.map((hit) => (1 + hit) / (1 + samples));
}

/**
 * Sign-flip permutation tests of mean differences. Under the null hypothesis a difference is as likely as its negative; the differences of one group
 * share a sign, since its queries are not independent, so the statistic is the sum over groups of +- the group's sum. Two-sided.
 *
 * A column with at most 12 groups that differ is tested exactly (p = hits / 2^n); others by 10,000 seeded draws, p = (1 + hits) / (1 + samples), which
 * counts the observed signs as one of the draws and is never 0. All columns share the draws.
 *
 * @param columns differences, treatment minus baseline, [Q] each.
 * @returns a test a column.
 * @throws ValidationError, DimensionMismatchError, NotFiniteError. Source: smucker2007significance, phipson2010permutation.
 */
export function signFlipPermutation(
  columns: readonly ArrayLike<number>[],
  clusters: Clusters,
  { samples = 10_000, seed }: PermutationOptions,
): PermutationTest[] {
  if (!(Number.isInteger(samples) && samples > 0))
    throw new ValidationError(`samples must be a whole number from 1: ${samples}`, { samples });
  const prepared = columns.map((differences) => columnOf(differences, clusters));
  const differing = prepared.map(({ sums }) => sums.filter((sum) => sum !== 0));
  const isExact = differing.map((sums) => sums.length <= EXACT_UP_TO);
  const sampled = sampledPs(
    prepared.filter((_, c) => !isExact[c]),
    clusters.sizes.length,
    samples,
    seed,
  ).values();
  return prepared.map(({ meanDifference, threshold }, c) => ({
    meanDifference,
    p: isExact[c] ? exactSignFlips(differing[c] as Float64Array, threshold) : (sampled.next().value as number),
    exact: isExact[c] as boolean,
  }));
}
