import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { areConsistent, LARGEST_OUTCOME, type OutcomeStatistics } from '../../model/turns/memory-record.ts';

/**
 * Running statistics of outcomes: one pass, O(1) an outcome, mergeable.
 *
 * Update, with n outcomes after it: d = x - mean, mean += d / n, m2 += d (d - d / n).
 * Merge, with d = mean_b - mean_a: mean = mean_a + d n_b / n, m2 = m2_a + m2_b + d^2 n_a n_b / n.
 *
 * The published update loses digits where the outcomes are far from 0 beside their spread: the mean is rounded at every step, and each d with it. Here the
 * mean keeps what rounding left of it, `meanRemainder`, so that 200 outcomes around 1e9 with variance 1 have that variance to 1e-12 instead of 3e-8.
 *
 * Sources: welford1962, chan1983variance (merge), ogita2005accurate (remainder).
 */

/**
 * @param where names the outcome in the message, for example `record r1`.
 * @param limit the largest magnitude.
 * @throws NotFiniteError; ValidationError beyond the limit.
 */
export function assertOutcome(outcome: number, where: string, limit = LARGEST_OUTCOME): void {
  if (!Number.isFinite(outcome)) throw new NotFiniteError('outcome', where, outcome, 'pass a finite number');
  if (Math.abs(outcome) > limit)
    throw new ValidationError(
      `outcome of ${where} is beyond ${limit} in magnitude: ${outcome}; scale the outcomes down`,
      { where, outcome, limit },
    );
}

/** @throws ValidationError for statistics that contradict themselves. */
export function assertOutcomeStatistics(statistics: OutcomeStatistics): void {
  if (!areConsistent(statistics))
    throw new ValidationError(
      `outcome statistics contradict themselves: ${JSON.stringify(statistics)}; pass statistics as they were written, or those of outcomes that are added one by one`,
      { statistics },
    );
}

/** A mean in two parts, `high` the float64 next to it, as statistics hold it: within the bounds, a remainder of 0 left out. */
function holdMean(mean: number, remainder: number, min: number, max: number) {
  const sum = mean + remainder;
  const part = sum - mean;
  const left = mean - (sum - part) + (remainder - part);
  const within = Math.min(max, Math.max(min, sum));
  return within === sum && left !== 0 ? { mean: sum, meanRemainder: left } : { mean: within };
}

/**
 * The statistics with one more outcome. Variance never becomes negative, and min <= mean <= max holds in float64 too.
 *
 * @throws NotFiniteError, ValidationError for an outcome or statistics that cannot be.
 */
export function updateOutcomeStatistics(statistics: OutcomeStatistics, outcome: number): OutcomeStatistics {
  assertOutcome(outcome, 'an update');
  assertOutcomeStatistics(statistics);
  const count = statistics.count + 1;
  const remainder = statistics.meanRemainder ?? 0;
  const delta = outcome - statistics.mean - remainder;
  const step = delta / count;
  const min = Math.min(statistics.min ?? outcome, outcome);
  const max = Math.max(statistics.max ?? outcome, outcome);
  return {
    count,
    ...holdMean(statistics.mean, remainder + step, min, max),
    m2: statistics.m2 + delta * (delta - step),
    min,
    max,
  };
}

/**
 * The statistics of the outcomes of both.
 *
 * @throws ValidationError for statistics that contradict themselves.
 */
export function mergeOutcomeStatistics(a: OutcomeStatistics, b: OutcomeStatistics): OutcomeStatistics {
  for (const statistics of [a, b]) assertOutcomeStatistics(statistics);
  if (a.count === 0) return b;
  if (b.count === 0) return a;
  const count = a.count + b.count;
  const share = b.count / count;
  const remainder = a.meanRemainder ?? 0;
  const delta = b.mean - a.mean + ((b.meanRemainder ?? 0) - remainder);
  const min = Math.min(a.min as number, b.min as number);
  const max = Math.max(a.max as number, b.max as number);
  return {
    count,
    ...holdMean(a.mean, remainder + delta * share, min, max),
    m2: a.m2 + b.m2 + delta * delta * (a.count * share),
    min,
    max,
  };
}

/** m2 / n, 0 for one outcome; null without one. */
export function computePopulationVariance({ count, m2 }: OutcomeStatistics): number | null {
  return count === 0 ? null : m2 / count;
}

/** m2 / (n - 1); null for fewer than two outcomes. */
export function computeSampleVariance({ count, m2 }: OutcomeStatistics): number | null {
  return count < 2 ? null : m2 / (count - 1);
}
