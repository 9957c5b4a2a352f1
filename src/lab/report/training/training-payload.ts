import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import type { ModelResult, TrainingResult } from '../../training/training-result.ts';
import { buildPayload, type Payload } from '../page/payload.ts';
import { formatNumberName } from './training-csv.ts';

/** What the inspector of a training's page shows: each shown method as an arm. Null for a training without rankings. */
function buildInspectionPayload(result: TrainingResult): Payload | null {
  const { inspection, models, dataset, metrics, level, strata, config, environment } = result;
  if (inspection === undefined) return null;
  const arms = inspection.methods.flatMap(({ model, method, perQuery, contributionNames, rankings }): ArmResult[] => {
    const found = models.find(({ name }) => name === model)?.methods.find(({ name }) => name === method);
    if (found === undefined) return []; // a page of some of the models
    const { metrics: means, comparisons, strata: values, holes } = found;
    const arm: ArmResult = {
      name: `${model}, ${method}`,
      description: '',
      options: {},
      levels: null,
      control: null,
      structure: null,
      tuned: {},
      metrics: means,
      comparisons,
      perQuery,
      componentNames: [],
      contributionNames,
      rankings,
      holes,
      strata: values,
      attribution: {},
      losses: inspection.queries.map(() => ({})),
      latency: null,
    };
    return [arm];
  });
  const [first] = models;
  const run: ExperimentResult = {
    name: result.name,
    hash: result.hash,
    description: result.description,
    environment,
    config: { ...config },
    dataset: { ...dataset, turns: inspection.turns },
    queries: inspection.queries,
    unanswerable: [],
    metrics,
    statistics: { test: 'permutation', correction: 'holm', samples: config.evaluation.samples, level },
    baseline: `${first?.name}, ${first?.baseline}`,
    arms,
    failures: [],
    stopped: [],
    passports: {},
    strata,
    sweep: null,
    stages: {},
    remarks: [],
    armsAtOnce: 1,
    timings: [],
  };
  return buildPayload(run);
}

/** A learned number; without bounds where nothing was resampled. */
export interface WeightPayload {
  readonly name: string;
  readonly handTuned: number;
  readonly value: number;
  readonly bounds: readonly [number, number] | null;
}

/** A fold's training: the mean loss of each epoch, null at the start, and the metric after it on rows that were not trained on. */
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

export interface ModelPayload {
  readonly name: string;
  /** Greatest magnitude first. */
  readonly weights: readonly WeightPayload[];
  /** The last one is the training on all rows. */
  readonly curves: readonly CurvePayload[];
  readonly bins: readonly BinPayload[];
  readonly families: readonly FamilyPayload[];
}

/** What the script of a training's page draws. */
export interface TrainingPayload {
  readonly metrics: readonly string[];
  readonly level: number;
  readonly models: readonly ModelPayload[];
  /** Null without rankings. */
  readonly inspection: Payload | null;
}

function buildWeightPayloads({ numbers }: ModelResult): WeightPayload[] {
  const parameters = new Set(numbers.map(({ parameter }) => parameter)).size;
  const weights = numbers.map((number) => ({
    name: formatNumberName(number, parameters),
    handTuned: number.handTuned,
    value: number.value,
    bounds: number.interval === null ? null : ([number.interval.low, number.interval.high] as const),
  }));
  return weights.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

function buildCurvePayloads({ folds, curve, validation }: ModelResult): CurvePayload[] {
  const named = folds.map((fold, f) => ({ name: `fold ${f + 1}`, ...fold }));
  return [...named, { name: 'all conversations', curve, validation }].map(({ name, curve: points, validation }) => ({
    name,
    loss: points.map(({ loss }) => loss),
    validation,
  }));
}

function buildFamilyPayloads({ importance }: ModelResult, metrics: readonly string[]): FamilyPayload[] {
  return importance.map(({ family, comparisons }) => ({
    name: family,
    differences: metrics.map((metric) => {
      const { difference, correctedP, verdict } = comparisons[metric] as (typeof comparisons)[string];
      return [difference.mean, difference.low, difference.high, correctedP, verdict !== 'undecided'];
    }),
  }));
}

export function buildTrainingPayload(result: TrainingResult): TrainingPayload {
  const { metrics, level, models } = result;
  return {
    inspection: buildInspectionPayload(result),
    metrics,
    level,
    models: models.map((model) => ({
      name: model.name,
      weights: buildWeightPayloads(model),
      curves: buildCurvePayloads(model),
      bins: model.calibration.bins,
      families: buildFamilyPayloads(model, metrics),
    })),
  };
}
