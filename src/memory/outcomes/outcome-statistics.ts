import { z } from 'zod';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { tQuantile } from '../../core/numbers/distributions.ts';
import {
  areConsistent,
  LARGEST_OUTCOME,
  type MemoryRecord,
  type OutcomeStatistics,
  toOutcomeStatistics,
} from '../../model/turns/turn.ts';

/**
 * Quantiles beyond it are cut, as scipy does. They belong to fewer than 0.013 degrees of freedom: nothing is known of
 * the mean.
 */
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

/**
 * Which observations of a record count: its `outcome`, what was observed later (`stats`), or both, of which the
 * outcome is the first.
 */
export const outcomePool = z.enum(['outcome', 'stats', 'both']);
/** One of the choices of {@link outcomePool}. */
export type OutcomePool = z.output<typeof outcomePool>;

/** The part of a record that a pool reads; without `stats` nothing was observed later. */
export type ObservedRecord = Pick<MemoryRecord, 'outcome'> & Partial<Pick<MemoryRecord, 'id' | 'stats'>>;

/** The observations of a record: its outcome as a part of one, and those that came later as another. */
export function listObserved({ outcome, stats }: ObservedRecord, pool: OutcomePool): OutcomeStatistics[] {
  const first = pool === 'stats' || outcome === null ? [] : [toOutcomeStatistics(outcome)];
  return pool === 'outcome' || stats === undefined || stats.count === 0 ? first : [...first, stats];
}

/** The mean of the observations of a record; null without one. */
export function computeObservedMean(record: ObservedRecord, pool: OutcomePool): number | null {
  const [first, later] = listObserved(record, pool);
  if (first === undefined) return null;
  return later === undefined ? first.mean : mergeOutcomeStatistics(first, later).mean;
}

/** A value and how often it was observed. */
export interface CountedValue {
  readonly value: number;
  readonly times: number;
}

/** A sum of squares may be this much below the largest that its bounds allow, in proportion: rounding. */
const ROUNDING = 1e-11;

/**
 * The values behind statistics, where these determine them; null otherwise.
 *
 * The sum of squares m2 is at most n (mean - min) (max - mean). It equals that only if every outcome is min or max, and
 * then n (mean - min) / (max - min) of them are max. So outcomes of 0 and 1 are known again from their statistics.
 */
export function recoverValues(statistics: OutcomeStatistics): CountedValue[] | null {
  const { count, mean, meanRemainder = 0, m2, min, max } = statistics;
  if (min === null || max === null) return [];
  if (min === max) return [{ value: min, times: count }];
  const width = max - min;
  const share = (mean - min + meanRemainder) / width;
  const largest = count * share * ((max - mean - meanRemainder) / width);
  const high = Math.round(count * share);
  const isOfTwo = high > 0 && high < count && m2 / width / width >= largest * (1 - ROUNDING);
  if (!isOfTwo) return null;
  return [
    { value: min, times: count - high },
    { value: max, times: high },
  ];
}

const end = z.number().min(-LARGEST_OUTCOME).max(LARGEST_OUTCOME);

/** Bounds of every outcome that can be; `none`, or `unit`: [0, 1] for observations that are all within it, else none. */
export const outcomeRange = z.union(
  [z.enum(['unit', 'none']), z.tuple([end, end]).refine(([low, high]) => low < high, 'the lower end first')],
  'unit, none, or [low, high] with low < high',
);
/** One of the choices of {@link outcomeRange}. */
export type OutcomeRange = z.output<typeof outcomeRange>;

/** @throws ValidationError for outcomes from `low` to `high` that a range of numbers does not hold. */
export function assertWithinRange(range: OutcomeRange, low: number, high: number, where: string): void {
  if (typeof range === 'string' || (range[0] <= low && high <= range[1])) return;
  throw new ValidationError(
    `outcome of ${where} is beyond the range from ${range[0]} to ${range[1]}: ${low < range[0] ? low : high}; correct the outcome, or widen the range`,
    { where, range },
  );
}

/** @throws ValidationError that names a record with an observation beyond the range. */
export function assertRecordsWithinRange(records: Iterable<MemoryRecord>, range: OutcomeRange): void {
  if (typeof range === 'string') return;
  for (const record of records)
    for (const { min, max } of listObserved(record, 'both'))
      assertWithinRange(range, min as number, max as number, `record ${record.id}`);
}

/** Bounds of outcomes from `low` to `high`; null for none. @throws as {@link assertWithinRange}. */
export function findBounds(
  range: OutcomeRange,
  low: number,
  high: number,
): readonly [low: number, high: number] | null {
  assertWithinRange(range, low, high, 'a prior');
  if (range === 'unit') return low >= 0 && high <= 1 ? [0, 1] : null;
  return range === 'none' ? null : range;
}
