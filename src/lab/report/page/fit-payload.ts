import type { FitResult } from '../../measure/fit-result.ts';
import type { ExperimentResult } from '../../measure/result.ts';
import { formatNumberName } from '../tables/fit-csv.ts';

/** A learned number; without bounds where nothing was resampled. */
export interface WeightPayload {
  readonly name: string;
  readonly handTuned: number;
  readonly value: number;
  readonly bounds: readonly [number, number] | null;
}

/**
 * The training of a fold: the mean loss of each epoch, null at the start, and the metric after it on rows that were not
 * trained on.
 */
export interface CurvePayload {
  readonly name: string;
  readonly loss: readonly (number | null)[];
  readonly validation: readonly number[];
}

export interface BinPayload {
  readonly low: number;
  readonly high: number;
  readonly count: number;
  /** Null for an empty bin. */
  readonly predicted: number | null;
  readonly observed: number | null;
}

export interface FamilyPayload {
  readonly name: string;
  /** By metric: the metric without the family minus with it, its bounds, the corrected p, and whether that decides. */
  readonly differences: readonly (readonly [number, number | null, number | null, number, boolean])[];
}

/** Data of the figures of a fit. */
export interface FitPayload {
  /** Greatest magnitude first. */
  readonly weights: readonly WeightPayload[];
  /** The last one is the training on all rows. */
  readonly curves: readonly CurvePayload[];
  readonly bins: readonly BinPayload[];
  readonly families: readonly FamilyPayload[];
}

function buildWeightPayloads({ numbers }: FitResult): WeightPayload[] {
  const parameters = new Set(numbers.map(({ parameter }) => parameter)).size;
  const weights = numbers.map((number) => ({
    name: formatNumberName(number, parameters),
    handTuned: number.handTuned,
    value: number.value,
    bounds: number.interval === null ? null : ([number.interval.low, number.interval.high] as const),
  }));
  return weights.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

function buildCurvePayloads({ folds, curve, validation }: FitResult): CurvePayload[] {
  const named = folds.map((fold, f) => ({ name: `fold ${f + 1}`, ...fold }));
  return [...named, { name: 'all conversations', curve, validation }].map(({ name, curve: points, validation }) => ({
    name,
    loss: points.map(({ loss }) => loss),
    validation,
  }));
}

function buildFamilyPayloads({ importance }: FitResult, metrics: readonly string[]): FamilyPayload[] {
  return importance.map(({ family, comparisons }) => ({
    name: family,
    differences: metrics.map((metric) => {
      const { difference, correctedP, verdict } = comparisons[metric] as (typeof comparisons)[string];
      return [difference.mean, difference.low, difference.high, correctedP, verdict !== 'undecided'];
    }),
  }));
}

/** Null where nothing was fitted. */
export function buildFitPayload({ fit, metrics }: ExperimentResult): FitPayload | null {
  if (fit === undefined) return null;
  return {
    weights: buildWeightPayloads(fit),
    curves: buildCurvePayloads(fit),
    bins: fit.calibration.bins,
    families: buildFamilyPayloads(fit, metrics),
  };
}
