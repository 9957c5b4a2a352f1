import { type BootstrapOptions, bootstrapIntervals, type Interval } from './bootstrap-interval.ts';
import { type ClusteredMean, clusteredMean, clusteredTTest, minimumDetectable } from './cluster-robust.ts';
import { clusteredWilcoxon } from './clustered-wilcoxon.ts';
import type { Clusters } from './clusters.ts';
import { cohenD } from './effect-size.ts';
import { benjaminiHochberg, holm } from './multiple-comparisons.ts';
import { pairedDifferences, TIE } from './paired-differences.ts';
import { signFlipPermutation } from './sign-flip-permutation.ts';

/** The paired tests by name; all clustered, all two-sided. */
export const TESTS = ['permutation', 't', 'wilcoxon'] as const;
export type TestName = (typeof TESTS)[number];

/** What is done about testing several systems at once. */
export const CORRECTIONS = {
  holm,
  'benjamini-hochberg': benjaminiHochberg,
  none: (ps: readonly number[]) => [...ps],
} as const;
export type CorrectionName = keyof typeof CORRECTIONS;

export interface ComparisonOptions extends BootstrapOptions {
  /** `permutation` where none is given. */
  readonly test?: TestName;
  /** Over the systems; `holm` where none is given. */
  readonly correction?: CorrectionName;
}

/** A system against the baseline in one metric. */
export interface BaselineComparison {
  /** System minus baseline. */
  readonly difference: Interval;
  /** Two-sided, clustered. */
  readonly p: number;
  /** Corrected over the systems. */
  readonly correctedP: number;
  /** Decided by the corrected p alone. */
  readonly verdict: 'better' | 'worse' | 'undecided';
  /** Cohen's d: mean / standard deviation of the queries' differences; null where every query differs by the same amount. */
  readonly effectSize: number | null;
  /** The least difference that a test of these queries at the level finds with power 0.8, see {@link minimumDetectable}. */
  readonly minimumDetectable: number;
  /** Queries that the system answers better than the baseline, as well, and worse. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

/** Whether a corrected p is below the bound of a confidence. One that equals it is not, whatever the last digit of 1 - level. */
export function isSignificant(correctedP: number, level: number): boolean {
  return correctedP < 1 - level - 1e-12;
}

function verdictOf(difference: number, correctedP: number, level: number): BaselineComparison['verdict'] {
  if (!isSignificant(correctedP, level)) return 'undecided';
  return difference > 0 ? 'better' : 'worse';
}

function countsOf(differences: Float64Array): Pick<BaselineComparison, 'wins' | 'ties' | 'losses'> {
  let wins = 0;
  let losses = 0;
  for (const difference of differences) {
    if (difference > TIE) wins++;
    else if (difference < -TIE) losses++;
  }
  return { wins, ties: differences.length - wins - losses, losses };
}

function effectSizeOf(differences: Float64Array): number | null {
  const d = cohenD(differences);
  return Number.isFinite(d) ? d : null;
}

/**
 * The p values of a clustered test that mean differences are 0, uncorrected.
 *
 * @param differences a column each, [Q].
 */
export function clusteredPs(
  differences: readonly Float64Array[],
  clusters: Clusters,
  { test = 'permutation', ...options }: ComparisonOptions,
): number[] {
  switch (test) {
    case 'permutation':
      return signFlipPermutation(differences, clusters, options).map(({ p }) => p);
    case 't':
      return differences.map((column) => clusteredTTest(clusteredMean(column, clusters)));
    case 'wilcoxon':
      return differences.map((column) => clusteredWilcoxon(column, clusters));
  }
}

/**
 * Compares systems with a baseline in one metric: the clustered bootstrap interval of each mean difference, a clustered test corrected over the systems,
 * the size of the effect and what the queries could have shown.
 *
 * @param systems values of one metric, [Q] each.
 * @param baseline [Q]
 * @returns a comparison a system.
 * @throws as {@link bootstrapIntervals} and the tests do.
 */
export function compareWithBaseline(
  systems: readonly ArrayLike<number>[],
  baseline: ArrayLike<number>,
  clusters: Clusters,
  options: ComparisonOptions,
): BaselineComparison[] {
  const { level = 0.95, correction = 'holm' } = options;
  const differences = systems.map((system) => pairedDifferences(system, baseline));
  const intervals = bootstrapIntervals(differences, clusters, options);
  const means = differences.map((column) => clusteredMean(column, clusters));
  const ps = clusteredPs(differences, clusters, options);
  const corrected = CORRECTIONS[correction](ps);
  return differences.map((column, s) => ({
    difference: intervals[s] as Interval,
    p: ps[s] as number,
    correctedP: corrected[s] as number,
    verdict: verdictOf((means[s] as ClusteredMean).mean, corrected[s] as number, level),
    effectSize: effectSizeOf(column),
    minimumDetectable: minimumDetectable(means[s] as ClusteredMean, level),
    ...countsOf(column),
  }));
}
