import { ValidationError } from '../../core/errors/errors.ts';
import type { Clusters } from '../intervals/clusters.ts';
import { groupByLetters } from './letter-display.ts';
import { computePairedDifferences } from './paired-differences.ts';
import { type ClusteredTest, type ComparisonOptions, computeClusteredTests } from './significance.ts';
import { chooseVerdict } from './verdict.ts';

/** Two systems in one metric. */
export interface PairComparison extends ClusteredTest {
  /** Indexes of the systems; `first` is the smaller one. */
  readonly first: number;
  readonly second: number;
  /** The mean of the first minus that of the second. */
  readonly difference: number;
  /** The index of the better system; null if undecided. */
  readonly better: number | null;
}

/** Every pair of S systems in one metric. */
export interface AllPairs {
  /** [S] */
  readonly means: readonly number[];
  /** [S (S - 1) / 2] by the first system, then the second. */
  readonly pairs: readonly PairComparison[];
  /** [S] the systems that each one is better than, ascending. */
  readonly beaten: readonly (readonly number[])[];
  /** The compact letter display: systems share a group exactly if their difference is undecided. The group of the best system is first. */
  readonly groups: readonly (readonly number[])[];
}

function computeMean(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Tests every pair of systems in one metric, corrected over all pairs: by Holm, unless the options name another correction. O(S² Q samples).
 *
 * @param systems values of one metric, [Q] each; at least 2.
 * @throws ValidationError for fewer systems; as the tests.
 */
export function compareAllPairs(
  systems: readonly ArrayLike<number>[],
  clusters: Clusters,
  options: ComparisonOptions,
): AllPairs {
  if (systems.length < 2)
    throw new ValidationError(`all pairs of ${systems.length} systems are none; pass at least 2`, {
      systems: systems.length,
    });
  const { level = 0.95 } = options;
  const means = systems.map(computeMean);
  const indexes = systems.flatMap((_, first) =>
    systems.slice(first + 1).map((__, i) => [first, first + 1 + i] as const),
  );
  const columns = indexes.map(([a, b]) =>
    computePairedDifferences(systems[a] as ArrayLike<number>, systems[b] as ArrayLike<number>),
  );
  const tests = computeClusteredTests(columns, clusters, options);
  const pairs = indexes.map(([first, second], i): PairComparison => {
    const test = tests[i] as ClusteredTest;
    const difference = computeMean(columns[i] as Float64Array);
    const better = { better: first, worse: second, undecided: null }[chooseVerdict(difference, test, level)];
    return { first, second, difference, better, ...test };
  });
  const decided = pairs.filter(({ better }) => better !== null);
  const order = [...systems.keys()].sort((a, b) => (means[b] as number) - (means[a] as number) || a - b);
  return {
    means,
    pairs,
    beaten: systems.map((_, s) =>
      decided.filter(({ better }) => better === s).map(({ first, second }) => (first === s ? second : first)),
    ),
    groups: groupByLetters(
      order,
      decided.map(({ first, second }) => [first, second] as const),
    ),
  };
}
