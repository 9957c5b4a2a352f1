import {
  assertBootstrapOptions,
  type BootstrapOptions,
  computeBootstrapIntervals,
  type Interval,
} from './bootstrap-interval.ts';
import { clusteredTInterval, estimateClusteredMean } from './cluster-robust.ts';
import { type Clusters, sumByCluster } from './clusters.ts';

/** A mean with its interval; without bounds if there are too few clusters to estimate their variation. */
export type Estimate = Interval | { readonly mean: number; readonly low: null; readonly high: null };

/** The method of a clustered interval; `none`: no interval. */
export type IntervalMethod = 'none' | 't' | 'bca';

/** With fewer clusters there is no interval: the standard error of two clusters is not reliable. */
export const LEAST_CLUSTERS = 3;

/**
 * From this number of clusters on the interval is BCa. At nominal .95 BCa covers .80 with 4 clusters of one size and
 * .90 with 10, the t interval .95. Where few clusters have most of the queries the intervals are too short: .88 with 3
 * to 6 clusters of skewed sizes, .88 to .91 with 10 to 20.
 */
export const LEAST_BOOTSTRAPPED = 20;

/** The method that a number of clusters allows; the variance of several seeds asks for `t`. */
export function chooseIntervalMethod(clusters: number, seeds = 1): IntervalMethod {
  if (clusters < LEAST_CLUSTERS) return 'none';
  return clusters < LEAST_BOOTSTRAPPED || seeds > 1 ? 't' : 'bca';
}

/**
 * Means over queries with the interval that the number of clusters allows: BCa from 20 clusters on, the cluster-robust
 * t interval from 3, none below. Of clusters of skewed sizes it covers less than its level, see {@link
 * LEAST_BOOTSTRAPPED}.
 *
 * @param columns values, [Q] each.
 * @returns an estimate a column.
 * @throws ValidationError for wrong options or no value, DimensionMismatchError, NotFiniteError.
 */
export function meanIntervals(
  columns: readonly ArrayLike<number>[],
  clusters: Clusters,
  options: BootstrapOptions,
): Estimate[] {
  assertBootstrapOptions(options);
  switch (chooseIntervalMethod(clusters.sizes.length)) {
    case 'bca':
      return computeBootstrapIntervals(columns, clusters, options);
    case 't':
      return columns.map((values) =>
        clusteredTInterval(estimateClusteredMean(values, clusters), options.level ?? 0.95),
      );
    case 'none':
      return columns.map((values) => ({ mean: computeClusteredMean(values, clusters), low: null, high: null }));
  }
}

function computeClusteredMean(values: ArrayLike<number>, clusters: Clusters): number {
  return sumByCluster(clusters, values).reduce((total, sum) => total + sum, 0) / values.length;
}
