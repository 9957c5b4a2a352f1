import { tQuantile } from '../../core/numbers/distributions.ts';

/** Quantiles beyond it are cut, as scipy does. They belong to fewer than 0.013 degrees of freedom: nothing is known of the mean. */
const LARGEST_QUANTILE = 1e100;

/** t_{(1 + level) / 2, count - 1} of Student, for a count above 1. */
export function studentQuantile(count: number, level = 0.95): number {
  return Math.min(tQuantile((1 + level) / 2, count - 1), LARGEST_QUANTILE);
}

/**
 * Student-t interval of a mean: mean +- t_{(1 + level) / 2, n - 1} sqrt(variance / (n - 1)).
 *
 * @param variance population variance.
 * @param count n, or the effective count of weighted values, which need not be whole.
 * @returns null for a count up to 1: one value has no spread.
 */
export function computeMeanInterval(
  mean: number,
  variance: number,
  count: number,
  level = 0.95,
): readonly [low: number, high: number] | null {
  if (count <= 1) return null;
  const reach = studentQuantile(count, level) * Math.sqrt(variance / (count - 1));
  return [mean - reach, mean + reach];
}
