import { type BootstrapOptions, bootstrapIntervals, type Interval } from './bootstrap-interval.ts';
import type { Clusters } from './clusters.ts';
import { holm } from './multiple-comparisons.ts';
import { pairedDifferences } from './paired-differences.ts';
import { signFlipPermutation } from './sign-flip-permutation.ts';

/** A system against the baseline in one metric. */
export interface BaselineComparison {
  /** System minus baseline. */
  readonly difference: Interval;
  /** Clustered sign-flip permutation, two-sided. */
  readonly p: number;
  /** Holm over the systems. */
  readonly correctedP: number;
  /** Decided by the corrected p alone. */
  readonly verdict: 'better' | 'worse' | 'undecided';
}

function verdictOf(difference: number, correctedP: number, level: number): BaselineComparison['verdict'] {
  if (correctedP >= 1 - level) return 'undecided';
  return difference > 0 ? 'better' : 'worse';
}

/**
 * Compares systems with a baseline in one metric: the clustered bootstrap interval of each mean difference, the clustered permutation p, and Holm's
 * correction over the systems.
 *
 * @param systems values of one metric, [Q] each.
 * @param baseline [Q]
 * @returns a comparison a system.
 * @throws as {@link bootstrapIntervals} and {@link signFlipPermutation} do.
 */
export function compareWithBaseline(
  systems: readonly ArrayLike<number>[],
  baseline: ArrayLike<number>,
  clusters: Clusters,
  options: BootstrapOptions,
): BaselineComparison[] {
  const { level = 0.95 } = options;
  const differences = systems.map((system) => pairedDifferences(system, baseline));
  const intervals = bootstrapIntervals(differences, clusters, options);
  const tests = signFlipPermutation(differences, clusters, options);
  const corrected = holm(tests.map(({ p }) => p));
  return tests.map(({ p, meanDifference }, s) => ({
    difference: intervals[s] as Interval,
    p,
    correctedP: corrected[s] as number,
    verdict: verdictOf(meanDifference, corrected[s] as number, level),
  }));
}
