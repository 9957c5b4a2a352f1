import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { readQuantile, wilsonInterval } from '../../core/numbers/distributions.ts';
import { parse } from '../../core/validation/validation.ts';
import type { OutcomeStatistics } from '../../model/turns/turn.ts';
import { RunningSums } from '../../ops/conservation/conservation-stream.ts';
import {
  assertOutcome,
  assertOutcomeStatistics,
  type CountedValue,
  computeMeanInterval,
  findBounds,
  listObserved,
  type ObservedRecord,
  type OutcomePool,
  type OutcomeRange,
  outcomeRange,
  recoverValues,
  studentQuantile,
} from './outcome-statistics.ts';

/** Numbers of values between edges. */
interface Histogram {
  /** [bins] */
  readonly counts: readonly number[];
  /** [bins + 1] in ascending order. */
  readonly edges: readonly number[];
}

/** numpy's linspace: `bins + 1` edges at equal steps, the last one exact. */
function listEdges(low: number, high: number, bins: number): number[] {
  const range = high - low;
  const step = range / bins;
  const computeEdge = (i: number) => (step === 0 ? (i / bins) * range : i * step) + low;
  return Array.from({ length: bins + 1 }, (_, i) => (i === bins ? high : Math.min(high, computeEdge(i))));
}

/** The last bin that begins at or below the value; the last bin holds its upper edge too. */
function findBin(edges: readonly number[], value: number): number {
  let bin = edges.length - 2;
  while (bin > 0 && value < (edges[bin] as number)) bin--;
  return bin;
}

/**
 * Values in bins of equal width from the least to the greatest one, as numpy's histogram: a bin holds its lower edge,
 * the last bin both. Values that are all equal get a range of 0.5 to both sides. Every value is in one bin.
 *
 * @param values at least one, all finite.
 * @param times how often each value counts; null: once.
 */
export function computeHistogram(
  values: ArrayLike<number>,
  bins = 10,
  times: ArrayLike<number> | null = null,
): Histogram {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i] as number);
    high = Math.max(high, values[i] as number);
  }
  const edges = low === high ? listEdges(low - 0.5, high + 0.5, bins) : listEdges(low, high, bins);
  const counts = new Array<number>(bins).fill(0);
  for (let i = 0; i < values.length; i++) {
    const bin = findBin(edges, values[i] as number);
    counts[bin] = (counts[bin] as number) + (times === null ? 1 : (times[i] as number));
  }
  return { counts, edges };
}

/** The standard normal quantile of a 95 % interval. */
const Z = 1.959963984540054;

/**
 * 95 % interval of the mean of outcomes within a known range [a, b]; never beyond the range, never a point.
 *
 * Outcomes are scaled to [0, 1]: p = (mean - a) / (b - a), and s^2 is their sample variance. m = p (1 - p) is the
 * largest variance that outcomes of this mean can have.
 *
 * phi = min(1, (n s^2 / m + 1) / (n + 1)), or 1 where m = 0 or n <= 1
 *
 * z*^2 = min(z^2, phi t_{.975, n - 1}^2)
 *
 * interval = the shares q with |p - q| <= z* sqrt(q (1 - q) / n), scaled to [a, b]: Wilson's with z* in place of z.
 *
 * phi is the share of the largest variance, with one more observation of that variance counted.
 * Outcomes at both ends have s^2 >= m, so phi is 1 and the interval is Wilson's. No outcomes of this mean vary more,
 * so no interval is wider. Of many outcomes that vary less it approaches Student's. Source: wilson1927interval.
 *
 * @param mean within the range.
 * @param variance population variance.
 * @param count n, or the effective count of weighted outcomes, at least 1.
 */
export function computeBoundedInterval(
  mean: number,
  variance: number,
  count: number,
  [low, high]: readonly [low: number, high: number],
): readonly [low: number, high: number] {
  const width = high - low;
  const share = Math.min(1, Math.max(0, (mean - low) / width));
  const largest = share * (1 - share);
  const isMeasured = largest > 0 && count > 1;
  const part = isMeasured ? (variance / width / width / largest) * (count / (count - 1)) : 1;
  const phi = Math.min(1, (count * part + 1) / (count + 1));
  const quantile = phi === 1 ? Z : Math.min(Z, Math.sqrt(phi) * studentQuantile(count));
  const ends = wilsonInterval(share * count, count, quantile);
  const scaleEnd = (end: number) => low + end * width;
  return [Math.max(low, Math.min(mean, scaleEnd(ends.low))), Math.min(high, Math.max(mean, scaleEnd(ends.high)))];
}

/** The percentiles of a prior. */
export const PRIOR_PERCENTILES = Object.freeze([5, 25, 50, 75, 95] as const);

/** The count at which confidence is one half. */
export const PRIOR_KAPPA = 5;

/** What the outcomes of retrieved records say about the next one. */
export interface KnownPrior {
  /** Observations that contribute; a record may have several. */
  readonly count: number;
  /** Records with an observation and a weight above 0. */
  readonly records: number;
  /** (sum w)^2 / sum w^2 over observations: `count` without weights, less the more the weights differ. */
  readonly effectiveCount: number;
  readonly mean: number;
  /** Population variance: 0 for one observation. */
  readonly variance: number;
  readonly min: number;
  readonly max: number;
  /** effectiveCount / (effectiveCount + kappa), in (0, 1). */
  readonly confidence: number;
  /**
   * By percent, between two observations in proportion; without weights. Null where later observations of a record
   * take more than two values.
   */
  readonly percentiles: Readonly<Record<string, number>> | null;
  /** 10 bins of equal width; without weights. Null as `percentiles`. */
  readonly histogram: Histogram | null;
  /**
   * 95 % interval of the mean, within the range of outcomes; null where no range is known and all observations are
   * equal or weigh as one.
   */
  readonly interval: readonly [low: number, high: number] | null;
}

/** A prior of no record: every figure is null. */
export interface UnknownPrior extends Readonly<Record<Exclude<keyof KnownPrior, 'count'>, null>> {
  readonly count: 0;
}

/** Statistics of outcomes, or, with a count of 0, null for each: `prior.mean === null` tells which. */
export type PriorBundle = KnownPrior | UnknownPrior;

/** Options of a prior. */
export interface PriorOptions {
  /** The count at which confidence is one half, above 0. */
  readonly kappa?: number;
  /** Which observations of a record count; default `both`. */
  readonly pool?: OutcomePool;
  /** Bounds of the interval; default `unit`. */
  readonly range?: OutcomeRange;
}

const UNKNOWN: UnknownPrior = Object.freeze({
  count: 0,
  records: null,
  effectiveCount: null,
  mean: null,
  variance: null,
  min: null,
  max: null,
  confidence: null,
  percentiles: null,
  histogram: null,
  interval: null,
});

/** Observations of a record, and the weight of each of them. */
interface Part {
  readonly observed: OutcomeStatistics;
  readonly weight: number;
}

function assertWeight(weight: number, record: string): void {
  if (!Number.isFinite(weight)) throw new NotFiniteError('weight', record, weight, 'pass finite weights');
  if (weight < 0)
    throw new ValidationError(`weight of ${record} is negative: ${weight}; pass weights from 0`, { record, weight });
}

/**
 * The observations of each record with some and a weight above 0. Weights are divided by the largest one, so that
 * squares of tiny weights are not lost.
 */
function readParts(records: readonly ObservedRecord[], weights: ArrayLike<number> | null, pool: OutcomePool): Part[][] {
  if (weights !== null && weights.length !== records.length)
    throw new DimensionMismatchError('weights of records', records.length, weights.length);
  const found = records.flatMap((record, i) => {
    const name = `record ${record.id ?? i}`;
    const weight = weights === null ? 1 : (weights[i] as number);
    assertWeight(weight, name);
    const observed = weight === 0 ? [] : listObserved(record, pool);
    for (const { mean } of observed) assertOutcome(mean, name);
    for (const statistics of observed) assertOutcomeStatistics(statistics);
    return observed.length === 0 ? [] : [{ observed, weight }];
  });
  const largest = found.reduce((most, { weight }) => Math.max(most, weight), 0);
  return found.map(({ observed, weight }) => observed.map((part) => ({ observed: part, weight: weight / largest })));
}

/** Sum over parts of weight x value. */
function sumWeighted(parts: readonly Part[], value: (observed: OutcomeStatistics) => number): number {
  const sums = new RunningSums(1);
  for (const { observed, weight } of parts) sums.add(0, weight * value(observed));
  return sums.getSum(0);
}

/** Weighted mean and population variance: those of the parts, merged. */
function computeMoments(parts: readonly Part[], min: number, max: number): readonly [mean: number, variance: number] {
  const total = sumWeighted(parts, ({ count }) => count);
  const readRest = ({ meanRemainder = 0 }: OutcomeStatistics) => meanRemainder;
  const sum = sumWeighted(parts, ({ count, mean }) => count * mean);
  const rest = sumWeighted(parts, (part) => part.count * readRest(part));
  const pooled = Math.min(max, Math.max(min, (sum + rest) / total));
  const measure = (part: OutcomeStatistics) => part.mean - pooled + readRest(part);
  // The mean is rounded: what it leaves of the differences is taken off again.
  const left = sumWeighted(parts, (part) => part.count * measure(part)) / total;
  const squares = sumWeighted(parts, (part) => part.m2 + part.count * measure(part) ** 2);
  return [pooled, Math.max(0, squares / total - left * left)];
}

/** The observations one by one, ascending; null if statistics do not determine them. */
function listValues(parts: readonly Part[]): CountedValue[] | null {
  const values = parts.map(({ observed }) => recoverValues(observed));
  const known = values.flatMap((found) => found ?? []);
  return values.includes(null) ? null : known.sort((a, b) => a.value - b.value);
}

function computePercentiles(values: readonly CountedValue[], count: number): Readonly<Record<string, number>> {
  const read = (rank: number) => {
    let left = rank;
    const found = values.find(({ times }) => {
      left -= times;
      return left < 0;
    });
    return (found ?? values.at(-1))?.value as number;
  };
  return Object.fromEntries(PRIOR_PERCENTILES.map((percent) => [percent, readQuantile(count, read, percent / 100)]));
}

function summarise(records: readonly Part[][], { kappa, range }: Required<Omit<PriorOptions, 'pool'>>): KnownPrior {
  const parts = records.flat();
  const min = parts.reduce((least, { observed }) => Math.min(least, observed.min as number), Number.POSITIVE_INFINITY);
  const max = parts.reduce((most, { observed }) => Math.max(most, observed.max as number), Number.NEGATIVE_INFINITY);
  const count = parts.reduce((sum, { observed }) => sum + observed.count, 0);
  const total = sumWeighted(parts, (observed) => observed.count);
  const squares = parts.reduce((sum, { observed, weight }) => sum + observed.count * weight * weight, 0);
  const effectiveCount = Math.min(count, Math.max(1, (total * total) / squares));
  const [mean, variance] = computeMoments(parts, min, max);
  const bounds = findBounds(range, min, max);
  const student = () => (min === max ? null : computeMeanInterval(mean, variance, effectiveCount));
  const values = listValues(parts);
  return {
    count,
    records: records.length,
    effectiveCount,
    mean,
    variance,
    min,
    max,
    confidence: effectiveCount / (effectiveCount + kappa),
    percentiles: values && computePercentiles(values, count),
    histogram: values && countValues(values),
    interval: bounds === null ? student() : computeBoundedInterval(mean, variance, effectiveCount, bounds),
  };
}

function countValues(values: readonly CountedValue[]): Histogram {
  return computeHistogram(
    values.map(({ value }) => value),
    10,
    values.map(({ times }) => times),
  );
}

/**
 * Pools the observations of records into a prior. Records without one do not contribute.
 *
 * A record i with weight w_i (1 without weights) and n_i observations, of mean x_i and sum of squared distances m2_i,
 * counts as n_i observations of weight w_i:
 *
 * W = sum w_i n_i, mean = sum w_i n_i x_i / W, variance = sum w_i (m2_i + n_i (x_i - mean)^2) / W
 *
 * count = sum n_i, effectiveCount = W^2 / sum w_i^2 n_i, confidence = effectiveCount / (effectiveCount + kappa)
 *
 * So a record that was observed often outweighs one that was observed once, and observations of one record count as
 * independent ones.
 *
 * The interval is {@link computeBoundedInterval} where a range is known, else Student's. Percentiles and histogram have
 * no weights. They need every observation, which statistics hold only where they take at most two values
 * ({@link recoverValues}).
 *
 * Guarantees: variance >= 0, min <= mean <= max, the interval holds the mean and stays in the range, confidence
 * increases with the count, and every figure is null if no record contributes.
 *
 * @param weights [records] from 0, such as retrieval scores, in the order of the records; null weighs all alike.
 * @throws DimensionMismatchError for another number of weights; NotFiniteError; ValidationError for a negative
 * weight, an outcome beyond 1e140 or the range, statistics that contradict themselves, or a kappa that is not above
 * 0. Source: diomande2026ragpp, section 4.4.
 */
export function computePriors(
  records: readonly ObservedRecord[],
  weights: ArrayLike<number> | null = null,
  { kappa = PRIOR_KAPPA, pool = 'both', range = 'unit' }: PriorOptions = {},
): PriorBundle {
  if (!(kappa > 0 && Number.isFinite(kappa)))
    throw new ValidationError(`kappa is not a finite number above 0: ${kappa}; pass one, such as ${PRIOR_KAPPA}`, {
      kappa,
    });
  parse(outcomeRange, range, 'the range of outcomes');
  const parts = readParts(records, weights, pool);
  return parts.length === 0 ? UNKNOWN : summarise(parts, { kappa, range });
}
