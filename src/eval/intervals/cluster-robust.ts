import { ValidationError } from '../../core/errors/errors.ts';
import { tCdf, tQuantile } from '../../core/numbers/distributions.ts';
import { type Clusters, sumByCluster } from './clusters.ts';

/** A mean over Q queries in G groups, and its uncertainty. */
export interface ClusteredMean {
  readonly mean: number;
  /** Standard error that allows for any dependence within a group. */
  readonly error: number;
  readonly groups: number;
}

/** Errors below this share of the mean magnitude are 0: the order of summation changes the last digits. */
const ROUNDING = 1e-12;

/**
 * The mean of clustered values and its cluster-robust standard error, sqrt(G / (G - 1) sum_g u_g^2) / Q, where u_g = sum of group g - its size x the mean.
 * With groups of one it is s / sqrt(n).
 *
 * @param values [Q]
 * @throws ValidationError for fewer than 2 groups, DimensionMismatchError, NotFiniteError. Source: cameron2015cluster.
 */
export function estimateClusteredMean(values: ArrayLike<number>, clusters: Clusters): ClusteredMean {
  const groups = clusters.sizes.length;
  if (groups < 2) throw new ValidationError(`standard error of ${groups} clusters; pass at least 2`, { groups });
  const sums = sumByCluster(clusters, values);
  const mean = sums.reduce((total, sum) => total + sum, 0) / values.length;
  let squares = 0;
  let magnitude = 0;
  for (let group = 0; group < groups; group++) {
    squares += ((sums[group] as number) - (clusters.sizes[group] as number) * mean) ** 2;
    magnitude += Math.abs(sums[group] as number);
  }
  const error = Math.sqrt((squares * groups) / (groups - 1)) / values.length;
  return { mean, error: error * values.length <= ROUNDING * magnitude ? 0 : error, groups };
}

/** Two-sided p of the t test that a clustered mean is 0, with G - 1 degrees of freedom. With no error its limits: 1 for a mean of 0, else 0. */
export function clusteredTTest({ mean, error, groups }: ClusteredMean): number {
  if (error === 0) return mean === 0 ? 1 : 0;
  return 2 * tCdf(-Math.abs(mean) / error, groups - 1);
}

/** The interval of the same test. */
export function clusteredTInterval({ mean, error, groups }: ClusteredMean, level: number) {
  const reach = tQuantile((1 + level) / 2, groups - 1) * error;
  return { mean, low: mean - reach, high: mean + reach };
}

/**
 * The least true difference that a two-sided test at `level` would find with the given power: error x (t_{(1 + level) / 2} + t_power), quantiles with
 * G - 1 degrees of freedom. It depends on the variation of the queries, not on the observed difference; for a single comparison, without a correction.
 *
 * Source: bloom1995minimum.
 */
export function minimumDetectable({ error, groups }: ClusteredMean, level: number, power = 0.8): number {
  return error * (tQuantile((1 + level) / 2, groups - 1) + tQuantile(power, groups - 1));
}
