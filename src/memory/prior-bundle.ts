import { RunningSums } from '../conservation/running-sums.ts';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../core/errors.ts';
import { quantile } from '../core/quantile.ts';
import { computeHistogram, type Histogram } from './histogram.ts';
import { computeMeanInterval } from './mean-interval.ts';
import { assertOutcome } from './outcome-statistics.ts';

/** The percentiles of a prior. */
export const PRIOR_PERCENTILES = Object.freeze([5, 25, 50, 75, 95] as const);

/** The count at which confidence is one half. */
export const PRIOR_KAPPA = 5;

/** What the outcomes of retrieved records say about the next one. */
export interface KnownPrior {
  /** Records that contribute. */
  readonly count: number;
  /** (sum w)^2 / sum w^2: `count` without weights, less the more the weights differ. */
  readonly effectiveCount: number;
  readonly mean: number;
  /** Population variance: 0 for one record. */
  readonly variance: number;
  readonly min: number;
  readonly max: number;
  /** effectiveCount / (effectiveCount + kappa), in (0, 1). */
  readonly confidence: number;
  /** By percent, between two outcomes in proportion; without weights. */
  readonly percentiles: Readonly<Record<string, number>>;
  /** 10 bins of equal width; without weights. */
  readonly histogram: Histogram;
  /** 95 % Student-t interval of the mean; null for an effective count up to 1. */
  readonly interval: readonly [low: number, high: number] | null;
}

/** A prior of no record: every figure is null. */
export interface UnknownPrior extends Readonly<Record<Exclude<keyof KnownPrior, 'count'>, null>> {
  readonly count: 0;
}

/** Statistics of outcomes, or, with a count of 0, null for each: `prior.mean === null` tells which. */
export type PriorBundle = KnownPrior | UnknownPrior;

/** `kappa`: the count at which confidence is one half, above 0. */
export interface PriorOptions {
  readonly kappa?: number;
}

const UNKNOWN: UnknownPrior = Object.freeze({
  count: 0,
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

/** Outcomes and their weights, the largest of which is 1. */
interface Sample {
  readonly outcomes: Float64Array;
  readonly weights: Float64Array;
}

function assertWeight(weight: number, place: number): void {
  if (!Number.isFinite(weight)) throw new NotFiniteError('weight', `record ${place}`, weight, 'pass finite weights');
  if (weight < 0)
    throw new ValidationError(`weight of record ${place} is negative: ${weight}; pass weights from 0`, {
      place,
      weight,
    });
}

/** Records with an outcome and a weight above 0. Weights are divided by the largest one, so that squares of tiny weights are not lost. */
function readSample(
  records: readonly { readonly outcome: number | null }[],
  weights: ArrayLike<number> | null,
): Sample {
  if (weights !== null && weights.length !== records.length)
    throw new DimensionMismatchError('weights of records', records.length, weights.length);
  const outcomes: number[] = [];
  const kept: number[] = [];
  for (const [place, { outcome }] of records.entries()) {
    const weight = weights === null ? 1 : (weights[place] as number);
    assertWeight(weight, place);
    if (outcome === null || weight === 0) continue;
    assertOutcome(outcome, `record ${place}`);
    outcomes.push(outcome);
    kept.push(weight);
  }
  const largest = kept.reduce((most, weight) => Math.max(most, weight), 0);
  return { outcomes: Float64Array.from(outcomes), weights: Float64Array.from(kept, (weight) => weight / largest) };
}

/** Sum of weight x value(outcome). */
function sumWeighted({ outcomes, weights }: Sample, value: (outcome: number) => number): number {
  const sums = new RunningSums(1);
  for (let i = 0; i < outcomes.length; i++) sums.add(0, (weights[i] as number) * value(outcomes[i] as number));
  return sums.getSum(0);
}

function summarise(sample: Sample, kappa: number): KnownPrior {
  const { outcomes, weights } = sample;
  const ascending = outcomes.toSorted();
  const [min, max] = [ascending[0] as number, ascending.at(-1) as number];
  const total = sumWeighted(sample, () => 1);
  const squares = weights.reduce((sum, weight) => sum + weight * weight, 0);
  const effectiveCount = Math.min(outcomes.length, Math.max(1, (total * total) / squares));
  const mean = Math.min(max, Math.max(min, sumWeighted(sample, (outcome) => outcome) / total));
  // The mean is rounded: what it leaves of the differences is taken off again.
  const left = sumWeighted(sample, (outcome) => outcome - mean) / total;
  const variance = Math.max(0, sumWeighted(sample, (outcome) => (outcome - mean) ** 2) / total - left * left);
  return {
    count: outcomes.length,
    effectiveCount,
    mean,
    variance,
    min,
    max,
    confidence: effectiveCount / (effectiveCount + kappa),
    percentiles: Object.fromEntries(PRIOR_PERCENTILES.map((percent) => [percent, quantile(ascending, percent / 100)])),
    histogram: computeHistogram(ascending),
    interval: computeMeanInterval(mean, variance, effectiveCount),
  };
}

/**
 * Pools the outcomes of records into a prior. Records without an outcome do not contribute. With weights, such as retrieval scores, mean and variance are
 * weighted, and the effective count replaces the count in confidence and interval; records of weight 0 do not contribute.
 *
 * Guarantees: variance >= 0, min <= mean <= max, confidence increases with the count, and every figure is null if no record contributes.
 *
 * @param weights [records] from 0, in the order of the records; null weighs all alike.
 * @throws DimensionMismatchError for another number of weights; NotFiniteError; ValidationError for a negative weight, an outcome beyond 1e140, or a kappa
 * that is not above 0. Source: diomande2026ragpp, section 4.4.
 */
export function computePriors(
  records: readonly { readonly outcome: number | null }[],
  weights: ArrayLike<number> | null = null,
  { kappa = PRIOR_KAPPA }: PriorOptions = {},
): PriorBundle {
  if (!(kappa > 0 && Number.isFinite(kappa)))
    throw new ValidationError(`kappa is not a finite number above 0: ${kappa}; pass one, such as ${PRIOR_KAPPA}`, {
      kappa,
    });
  const sample = readSample(records, weights);
  return sample.outcomes.length === 0 ? UNKNOWN : summarise(sample, kappa);
}
