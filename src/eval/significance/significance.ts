import {
  type BootstrapOptions,
  type Clusters,
  chooseIntervalMethod,
  clusteredTTest,
  type Estimate,
  estimateClusteredMean,
  meanIntervals,
  minimumDetectable,
  sumByCluster,
} from '../intervals/mean-intervals.ts';
import {
  averageRepetitions,
  computeRepeatedInterval,
  estimateRepeatedMean,
  testRepeatedMean,
} from '../intervals/repeated-mean.ts';
import type { Direction } from '../metrics/judged-ranking.ts';
import {
  CORRECTIONS,
  type CorrectionName,
  confirmByFlips,
  LEAST_TRUSTED,
  type TestName,
} from './multiple-comparisons.ts';
import { cohenD, computePairedDifferences, TIE } from './paired-differences.ts';
import { computeExactFlipP, type PermutationTest, signFlipPermutation } from './sign-flip-permutation.ts';
import { chooseVerdict, isSignificant, type Verdict } from './verdict.ts';
import { clusteredWilcoxon } from './wilcoxon-signed-rank.ts';

/**
 * The paired test, the correction for multiple comparisons, and the resampling of a comparison of systems with a
 * baseline.
 */
export interface ComparisonOptions extends BootstrapOptions {
  /** By default `permutation`. */
  readonly test?: TestName;
  /** Over the systems; by default `holm`. */
  readonly correction?: CorrectionName;
  /** The better end of the metric; by default `higher`. Differences keep their sign. */
  readonly better?: Direction;
}

/** The clustered, two-sided test that a mean difference is 0. */
export interface ClusteredTest {
  /** The larger p of two tests if the clusters are few, see {@link confirmByFlips}. */
  readonly p: number;
  /** Corrected over the columns that were tested together. */
  readonly correctedP: number;
  /** The number of sign vectors drawn for p; null if p needs none. */
  readonly samples: number | null;
  /**
   * True if the bound, 1 - level, still lies in the Monte Carlo interval of the corrected p: the comparison is
   * undecided, and more samples might decide it.
   */
  readonly unresolved: boolean;
}

/** A system against the baseline in one metric. */
export interface BaselineComparison extends ClusteredTest {
  /** System minus baseline. */
  readonly difference: Estimate;
  /** Decided by the corrected p alone. */
  readonly verdict: Verdict;
  /**
   * Cohen's d: mean / standard deviation of the queries' differences; null if every query differs by the same amount.
   */
  readonly effectSize: number | null;
  /**
   * The least difference that a test of these queries at the level finds with power 0.8, see {@link minimumDetectable};
   * null with too few clusters for an interval.
   */
  readonly minimumDetectable: number | null;
  /** Queries that the system answers better than the baseline, as well, and worse. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Clusters in which the system's mean is better than the baseline's, the same, and worse. */
  readonly clusterWins: number;
  readonly clusterTies: number;
  readonly clusterLosses: number;
  /**
   * The uncorrected p of all sign vectors of whole clusters, whichever test is asked for; null where
   * {@link LEAST_TRUSTED} or more clusters are too many.
   */
  readonly signFlipP: number | null;
}

/** Numbers of differences that are better, equal to 0, and worse. */
function countWins(differences: Float64Array, better: Direction): Pick<BaselineComparison, 'wins' | 'ties' | 'losses'> {
  let above = 0;
  let below = 0;
  for (const difference of differences) {
    if (difference > TIE) above++;
    else if (difference < -TIE) below++;
  }
  const ties = differences.length - above - below;
  return better === 'higher' ? { wins: above, ties, losses: below } : { wins: below, ties, losses: above };
}

function countClusterWins(
  differences: Float64Array,
  clusters: Clusters,
  better: Direction,
): Pick<BaselineComparison, 'clusterWins' | 'clusterTies' | 'clusterLosses'> {
  const means = sumByCluster(clusters, differences).map((sum, cluster) => sum / (clusters.sizes[cluster] as number));
  const { wins, ties, losses } = countWins(means, better);
  return { clusterWins: wins, clusterTies: ties, clusterLosses: losses };
}

function computeEffectSize(differences: Float64Array): number | null {
  const d = cohenD(differences);
  return Number.isFinite(d) ? d : null;
}

/** True if a difference of these clusters can be tested by its standard error, as an interval needs it. */
function hasError(clusters: Clusters): boolean {
  return chooseIntervalMethod(clusters.sizes.length) !== 'none';
}

/**
 * Which corrected p are on neither side of the bound for sure. A correction gives no smaller p for larger ones, so that
 * the corrected ends of the Monte Carlo intervals are the ends of an interval of the corrected p.
 */
function findUnresolved(tests: readonly PermutationTest[], correction: CorrectionName, level: number): boolean[] {
  const [lows, highs] = [
    CORRECTIONS[correction](tests.map(({ low }) => low)),
    CORRECTIONS[correction](tests.map(({ high }) => high)),
  ];
  return tests.map((_, i) => isSignificant(lows[i] as number, level) && !isSignificant(highs[i] as number, level));
}

/**
 * Permutation tests for which sign vectors are drawn until each corrected p is on one side of the bound, or there are
 * too many of them.
 */
function computePermutationTests(
  differences: readonly Float64Array[],
  clusters: Clusters,
  { correction = 'holm', level = 0.95, ...options }: ComparisonOptions,
): ClusteredTest[] {
  const isUndecided = (tests: readonly PermutationTest[]) => findUnresolved(tests, correction, level);
  const tests = signFlipPermutation(differences, clusters, { ...options, wantsMore: isUndecided });
  const corrected = CORRECTIONS[correction](tests.map(({ p }) => p));
  const unresolved = isUndecided(tests);
  return tests.map(({ p, exact, samples }, i) => ({
    p,
    correctedP: corrected[i] as number,
    samples: exact ? null : samples,
    unresolved: unresolved[i] as boolean,
  }));
}

/**
 * Clustered tests that mean differences are 0, corrected over the columns. With one or two clusters the t test has no
 * standard error, and its p is 1. Of few clusters the p of every test is {@link confirmByFlips | confirmed} before the
 * correction.
 *
 * @param differences a column each, [Q].
 */
export function computeClusteredTests(
  differences: readonly Float64Array[],
  clusters: Clusters,
  options: ComparisonOptions,
): ClusteredTest[] {
  const { test = 'permutation', correction = 'holm' } = options;
  if (test === 'permutation') return computePermutationTests(differences, clusters, options);
  const ofColumn = {
    t: (column: Float64Array) => (hasError(clusters) ? clusteredTTest(estimateClusteredMean(column, clusters)) : 1),
    wilcoxon: (column: Float64Array) => clusteredWilcoxon(column, clusters),
  }[test];
  const ps = differences.map((column) => confirmByFlips(ofColumn(column), column, clusters));
  const corrected = CORRECTIONS[correction](ps);
  return ps.map((p, i) => ({ p, correctedP: corrected[i] as number, samples: null, unresolved: false }));
}

/**
 * Compares systems with a baseline in one metric: the clustered interval of each mean difference, a clustered test
 * corrected over the systems, the size of the effect and the minimum detectable difference.
 *
 * @param systems values of one metric, [Q] each.
 * @param baseline [Q]
 * @returns a comparison a system.
 * @throws as {@link meanIntervals} and the tests.
 */
export function compareWithBaseline(
  systems: readonly ArrayLike<number>[],
  baseline: ArrayLike<number>,
  clusters: Clusters,
  options: ComparisonOptions,
): BaselineComparison[] {
  const { level = 0.95 } = options;
  const differences = systems.map((system) => computePairedDifferences(system, baseline));
  const intervals = meanIntervals(differences, clusters, options);
  const tests = computeClusteredTests(differences, clusters, options);
  return differences.map((column, s) => {
    const [difference, test] = [intervals[s] as Estimate, tests[s] as ClusteredTest];
    const detectable = hasError(clusters) ? minimumDetectable(estimateClusteredMean(column, clusters), level) : null;
    return describeComparison(difference, test, column, clusters, detectable, options);
  });
}

function describeComparison(
  difference: Estimate,
  test: ClusteredTest,
  column: Float64Array,
  clusters: Clusters,
  detectable: number | null,
  { level = 0.95, better = 'higher' }: ComparisonOptions,
): BaselineComparison {
  return {
    difference,
    ...test,
    verdict: chooseVerdict(difference.mean, test, level, better),
    effectSize: computeEffectSize(column),
    minimumDetectable: detectable,
    ...countWins(column, better),
    ...countClusterWins(column, clusters, better),
    signFlipP: clusters.sizes.length < LEAST_TRUSTED ? computeExactFlipP(column, clusters) : null,
  };
}

/**
 * {@link compareWithBaseline} of systems that were run with several seeds: interval and p are those of {@link
 * estimateRepeatedMean}, whichever test is asked for; of few clusters the p is confirmed. Effect size, wins and losses
 * are of the queries' means over the seeds.
 *
 * @param pairs for each system, the values of system and baseline by seed, [S][Q] each
 */
export function compareRepeated(
  pairs: readonly (readonly (readonly [system: ArrayLike<number>, baseline: ArrayLike<number>])[])[],
  clusters: Clusters,
  options: ComparisonOptions,
): BaselineComparison[] {
  const { level = 0.95, correction = 'holm' } = options;
  const differences = pairs.map((seeds) =>
    seeds.map(([system, baseline]) => computePairedDifferences(system, baseline)),
  );
  const columns = differences.map(averageRepetitions);
  if (!hasError(clusters))
    return columns.map((column) => {
      const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
      const test = { p: 1, correctedP: 1, samples: null, unresolved: false };
      return describeComparison({ mean, low: null, high: null }, test, column, clusters, null, options);
    });
  const means = differences.map((seeds) => estimateRepeatedMean(seeds, clusters));
  const ps = means.map((mean, s) => confirmByFlips(testRepeatedMean(mean), columns[s] as Float64Array, clusters));
  const corrected = CORRECTIONS[correction](ps);
  return means.map((mean, s) => {
    const column = columns[s] as Float64Array;
    const test = { p: ps[s] as number, correctedP: corrected[s] as number, samples: null, unresolved: false };
    const detectable = minimumDetectable({ ...mean, groups: mean.freedom + 1 }, level);
    return describeComparison(computeRepeatedInterval(mean, level), test, column, clusters, detectable, options);
  });
}
