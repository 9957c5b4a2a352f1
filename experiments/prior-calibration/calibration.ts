import { quantile } from '../../src/core/numbers/distributions.ts';
import { createRandom } from '../../src/core/numbers/random.ts';
import type { Clusters } from '../../src/eval/intervals/mean-intervals.ts';
import { computeMeanInterval } from '../../src/memory/outcomes/outcome-statistics.ts';
import type { PriorBundle } from '../../src/memory/outcomes/prior-bundle.ts';
import { type Calibration, measureCalibration } from '../../src/rank/learning/calibration.ts';

/** Bins of probabilities beside observed rates, and their expected calibration error. */
export function binOutcomes(probabilities: Float64Array, outcomes: Float64Array, bins: number): Calibration {
  const grades = Float32Array.from(outcomes);
  const mask = new Uint8Array(outcomes.length).fill(1);
  return measureCalibration({ mask, grades, relevantGrade: 1 }, probabilities, bins);
}

const findBin = (probability: number, bins: number) => Math.min(bins - 1, Math.floor(probability * bins));

/**
 * Percentile interval of the expected calibration error: clusters are resampled with all their turns. The error is a sum of absolute values, so resamples lie
 * above the true error more than below it.
 */
export function resampleCalibrationError(
  probabilities: Float64Array,
  outcomes: Float64Array,
  clusters: Clusters,
  options: { readonly bins: number; readonly samples: number; readonly level: number; readonly seed: number },
): { readonly low: number; readonly high: number } {
  const { bins, samples, level, seed } = options;
  const groups = clusters.sizes.length;
  const gaps = new Float64Array(groups * bins);
  for (let i = 0; i < outcomes.length; i++) {
    const bin = (clusters.of[i] as number) * bins + findBin(probabilities[i] as number, bins);
    gaps[bin] = (gaps[bin] as number) + (probabilities[i] as number) - (outcomes[i] as number);
  }
  const stream = createRandom(seed, 'calibration-error');
  const errors = Float64Array.from({ length: samples }, () => {
    const sums = new Float64Array(bins);
    let turns = 0;
    for (let draw = 0; draw < groups; draw++) {
      const group = stream.integer(groups);
      turns += clusters.sizes[group] as number;
      for (let bin = 0; bin < bins; bin++) sums[bin] = (sums[bin] as number) + (gaps[group * bins + bin] as number);
    }
    return sums.reduce((sum, gap) => sum + Math.abs(gap), 0) / turns;
  }).sort();
  return { low: quantile(errors, (1 - level) / 2), high: quantile(errors, (1 + level) / 2) };
}

/** [turns] each 1 or 0, of the 95 % intervals of priors. */
export interface Coverage {
  /** True if the interval holds the outcome itself. */
  readonly outcome: Float64Array;
  /** True if it holds the rate of the turns whose prior has a mean in the same bin. */
  readonly rate: Float64Array;
  /** The same of Student's interval, which does not know that outcomes are 0 or 1. */
  readonly rateByStudent: Float64Array;
  /** The same of intervals of drawn priors, whose neighbours have that rate. */
  readonly drawnRate: Float64Array;
  /** Intervals that exist; a turn without one covers nothing. */
  readonly intervals: number;
  /** Of the intervals; null without one. A mean would be that of the few that are astronomically wide. */
  readonly medianWidth: number | null;
}

/** True if low <= value <= high, as 0 or 1. */
const holds = (low: number, value: number, high: number) => (low <= value && value <= high ? 1 : 0);

/**
 * What the intervals of priors cover; turns without a prior cover nothing.
 *
 * @param drawPrior the prior of a turn whose neighbours, with their weights, have outcomes that are drawn with a rate.
 */
export function measureCoverage(
  priors: readonly PriorBundle[],
  outcomes: Float64Array,
  bins: number,
  drawPrior: (turn: number, rate: number) => PriorBundle,
): Coverage {
  const means = Float64Array.from(priors, ({ mean }) => mean ?? Number.NaN);
  const known = [...priors.keys()].filter((i) => !Number.isNaN(means[i]));
  const pick = (values: Float64Array) => Float64Array.from(known, (i) => values[i] as number);
  const { bins: groups } = binOutcomes(pick(means), pick(outcomes), bins);
  const coverage = { outcome: new Float64Array(priors.length), rate: new Float64Array(priors.length) };
  const rateByStudent = new Float64Array(priors.length);
  const drawnRate = new Float64Array(priors.length);
  const widths: number[] = [];
  for (const i of known) {
    const { mean, variance, effectiveCount, interval } = priors[i] as PriorBundle;
    if (mean === null || interval === null) continue;
    const rate = groups[findBin(mean, bins)]?.observed as number;
    const student = computeMeanInterval(mean, variance, effectiveCount);
    const drawn = drawPrior(i, rate).interval;
    coverage.outcome[i] = holds(interval[0], outcomes[i] as number, interval[1]);
    coverage.rate[i] = holds(interval[0], rate, interval[1]);
    if (student !== null) rateByStudent[i] = holds(student[0], rate, student[1]);
    if (drawn !== null) drawnRate[i] = holds(drawn[0], rate, drawn[1]);
    widths.push(interval[1] - interval[0]);
  }
  const intervals = widths.length;
  const medianWidth = intervals === 0 ? null : quantile(Float64Array.from(widths).sort(), 0.5);
  return { ...coverage, rateByStudent, drawnRate, intervals, medianWidth };
}
