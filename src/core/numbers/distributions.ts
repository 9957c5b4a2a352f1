import { createRequire } from 'node:module';
import { once } from '../values/once.ts';

/**
 * The value at a share of the way through ordered values, between two of them in proportion (numpy's default).
 *
 * @param count at least one.
 * @param read the value of a rank from 0, ascending.
 * @param share 0 to 1.
 */
export function readQuantile(count: number, read: (rank: number) => number, share: number): number {
  const rank = share * (count - 1);
  const below = Math.floor(rank);
  const low = read(below);
  const high = read(Math.min(below + 1, count - 1));
  return Math.min(high, low + (rank - below) * (high - low));
}

/** {@link readQuantile} of values in a list. @param ascending at least one. */
export function quantile(ascending: Float64Array, share: number): number {
  return readQuantile(ascending.length, (rank) => ascending[rank] as number, share);
}

/**
 * The interval of a share of which `hits` of n draws were seen, by Wilson: the shares p with |hits / n - p| <= z sqrt(p
 * (1 - p) / n).
 *
 * @param z standard normal quantile of the confidence; 3.29 for 99.9 %. Source: wilson1927interval.
 */
export function wilsonInterval(hits: number, n: number, z: number): { readonly low: number; readonly high: number } {
  const share = hits / n;
  const spread = (z * z) / n;
  const centre = share + spread / 2;
  const reach = Math.sqrt(spread * (share * (1 - share) + spread / 4));
  return {
    low: hits === 0 ? 0 : Math.max(0, (centre - reach) / (1 + spread)),
    high: hits === n ? 1 : Math.min(1, (centre + reach) / (1 + spread)),
  };
}

/**
 * Distribution functions of stdlib, each loaded with its first call: together they take longer to load than all of our
 * own code.
 */

const require = createRequire(import.meta.url);

const loadNormalCdf = once(
  () => require('@stdlib/stats-base-dists-normal-cdf') as typeof import('@stdlib/stats-base-dists-normal-cdf'),
);
const loadNormalQuantile = once(
  () =>
    require('@stdlib/stats-base-dists-normal-quantile') as typeof import('@stdlib/stats-base-dists-normal-quantile'),
);
const loadTCdf = once(
  () => require('@stdlib/stats-base-dists-t-cdf') as typeof import('@stdlib/stats-base-dists-t-cdf'),
);
const loadTQuantile = once(
  () => require('@stdlib/stats-base-dists-t-quantile') as typeof import('@stdlib/stats-base-dists-t-quantile'),
);

/** P(X <= x) for a normal X. */
export function normalCdf(x: number, mean: number, deviation: number): number {
  return loadNormalCdf()(x, mean, deviation);
}

/** The x with P(X <= x) = share for a normal X. */
export function normalQuantile(share: number, mean: number, deviation: number): number {
  return loadNormalQuantile()(share, mean, deviation);
}

/** P(X <= x) for Student's t. */
export function tCdf(x: number, degreesOfFreedom: number): number {
  return loadTCdf()(x, degreesOfFreedom);
}

/** The x with P(X <= x) = share for Student's t. */
export function tQuantile(share: number, degreesOfFreedom: number): number {
  return loadTQuantile()(share, degreesOfFreedom);
}
