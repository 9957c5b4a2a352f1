import {
  finishStepsWithBreaks,
  ignoreProgress,
  letEventsIn,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import type { Run } from '../../model/run.ts';
import { fitWithSelection, type SelectionPlan } from '../../rank/learning/cross-validation.ts';
import type { FeatureSource, FeatureTable } from '../../rank/learning/feature-table.ts';
import type { ModelOptions } from '../../rank/learning/fit-options.ts';
import type { HyperParameters } from '../../rank/learning/fitting.ts';
import { drawBalancedFolds, type Fold, splitAsListed, splitByCluster } from '../../rank/learning/folds.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { HAND_TUNED, listMixSignals, type ScoringModel, scoreTable } from '../../rank/learning/model.ts';
import {
  computeEqualBudget,
  coordinateAscent,
  randomSearch,
  searchOnTable,
} from '../../rank/learning/parameter-search.ts';
import { listHandTunedValues, listUniformValues } from '../../rank/learning/parameters.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { type CurvePoint, TRAINING_DEFAULTS } from '../../rank/learning/training.ts';
import { createTrajectoryModel } from '../../rank/learning/trajectory-model.ts';
import type { Normalisation } from '../../rank/signals/bank/normalisation.ts';
import { listCombinations } from '../composition/arms.ts';
import { FIT_METHODS, type FitMethod, HAND_TUNED_ARM } from '../config/fitted-arm.ts';
import { type Measurement, type MeasurementOptions, stepThroughArms } from '../measure/measurement.ts';
import type { LearningTask } from './learning-task.ts';
import { measureWithoutEach } from './selected-signals.ts';
import type { TrainingConfig } from './training-config.ts';

/** The method that the others are compared with. */
export const BASELINE = HAND_TUNED_ARM;

/** The metrics and statistics of a fit. */
export function selectMeasuring({ evaluation, seed }: TrainingConfig, baseline: string): MeasurementOptions {
  const { metrics, test, correction, samples, level, tokenBudgets } = evaluation;
  return { metrics, test, correction, samples, level, tokenBudgets, baseline, seed };
}

/** Measures rankings of a task's queries. @param runs by method, the baseline among them */
export function measureMethods(
  { dataset, queries }: LearningTask,
  config: TrainingConfig,
  runs: ReadonlyMap<string, Run>,
  baseline = BASELINE,
): Promise<Measurement> {
  return finishStepsWithBreaks(stepThroughArms(runs, dataset, queries, selectMeasuring(config, baseline)), () => {});
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'hand-tuned': 'where training starts',
  uniform: 'every signal alike',
  'random search': 'the best of random draws, in the time of the training',
  'coordinate ascent': 'one number after the other, in the time of the training',
  learned: 'by gradients',
  strategy: 'the weights of the strategy of each question',
  everyone: 'those learned of all users together',
  user: 'those learned of who asks',
  'another user': 'a null control: those of another user with own weights',
};

/** The description of a way to choose the numbers of a model. */
export function describeMethod(name: string): string {
  return DESCRIPTIONS[name] ?? '';
}

const SEARCHES = { 'random search': randomSearch, 'coordinate ascent': coordinateAscent } as const;
type SearchMethod = keyof typeof SEARCHES;

/** The results of one outer fold. */
export type FoldOutcome = {
  /** Row-major [methods, held out, C]: each method's scores of the rows that it has not seen. */
  readonly scores: Float32Array;
  /** [P] of the learned method. */
  readonly values: Float64Array;
  readonly clusters: readonly string[];
  /** Index of the grid point that the inner folds chose, and the validation of each point. */
  readonly point: number;
  readonly pointValues: readonly number[];
  /** The validation of the chosen point after each epoch. */
  readonly validation: readonly number[];
  readonly epochs: number;
  readonly curve: readonly CurvePoint[];
  /** The signals that a selection chose, in their order, and the metric of the fit without each minus with it. */
  readonly path: readonly string[];
  readonly without: readonly number[];
  /** The number of rows held out. */
  readonly heldOut: number;
  readonly searches: readonly Readonly<FoundValues>[];
};

/** Makes a model of the rows that it is trained on. */
export function createModelMaker(
  options: ModelOptions,
  normalise: Normalisation = 'pool',
): (rows: FeatureTable) => ScoringModel {
  if (options.name === 'trajectory') {
    const { dimensions } = options;
    return () => createTrajectoryModel({ dimensions, self: 'include' });
  }
  return (rows) => {
    const signals = listMixSignals(rows.signals, options);
    const written = options.initial ?? HAND_TUNED;
    const initial = Object.fromEntries(Object.entries(written).filter(([signal]) => signals.includes(signal)));
    const linear = { signals, nonNegative: options.nonNegative, initial, normalise };
    return createLinearModel(linear, fitStandardisation(rows, signals));
  };
}

interface FittingPoint {
  /** The hyper-parameters that tables show. */
  readonly point: Readonly<Record<string, unknown>>;
  readonly training: HyperParameters;
}

/** The seeds of each training; a selection has no start to draw. */
export function listSeeds({ fit, seed }: Pick<TrainingConfig, 'fit' | 'seed'>): number[] {
  return Array.from({ length: fit.select === null ? fit.seeds : 1 }, (_, i) => seed + i);
}

/** The points of the grid, as training takes them. */
export function listFittingPoints({ fit }: Pick<TrainingConfig, 'fit'>): FittingPoint[] {
  const { loss, l2, learningRate, clip, temperature, metric, epochs, patience, batchSize, startNoise, select } = fit;
  const fixed = { metric, epochs, patience, batchSize, startNoise, ...(clip === undefined ? {} : { clip }) };
  if (select !== null) {
    const { method, size, l2 } = select;
    const sizes = [size].flat().sort((a, b) => a - b);
    const training = { ...TRAINING_DEFAULTS, ...fixed, l2, epochs: Math.max(...sizes), select: { sizes } };
    return loss.map((name) => ({
      point: { select: method, loss: name, l2 },
      training: { ...training, loss: { name, temperature: 1 } },
    }));
  }
  return listCombinations({ loss, l2, learningRate }).map((point) => ({
    point,
    training: {
      ...fixed,
      loss: { name: point.loss as 'listwise' | 'infonce', temperature },
      l2: point.l2 as number,
      learningRate: point.learningRate as number,
    },
  }));
}

/** The point that a fit chose, with its number of epochs. */
export function selectChosenPoint(
  config: TrainingConfig,
  { point, epochs }: { readonly point: number; readonly epochs: number },
): HyperParameters {
  return { ...(listFittingPoints(config)[point]?.training as HyperParameters), epochs };
}

/** Chooses weights from rows alone. */
export function buildSelectionPlan(config: TrainingConfig, model = config.fit.model): SelectionPlan {
  return {
    modelOf: createModelMaker(model, config.fit.normalise),
    points: listFittingPoints(config).map(({ training }) => training),
    innerFolds: config.fit.innerFolds,
    seeds: listSeeds(config),
  };
}

/** @param known conversations that listed folds may name, besides those of the rows */
export function buildOuterFolds(
  config: TrainingConfig,
  rows: Pick<FeatureSource, 'clusters'>,
  known: readonly string[] = [],
): Fold[] {
  const { folds } = config.fit;
  if (folds === 'leave-one-out') return splitByCluster(rows);
  return typeof folds === 'number' ? drawBalancedFolds(rows, folds, config.seed) : splitAsListed(rows, folds, known);
}

/** The result of a search for a model's numbers. */
interface FoundValues {
  readonly method: SearchMethod;
  /** The number of its evaluations of the metric on all training rows. */
  readonly evaluations: number;
  /** True if no evaluation was better than the hand-tuned start. */
  readonly isStart: boolean;
}

/** Looks for a model's numbers by the metric alone. @param budget evaluations of the rows */
async function searchParameters(
  model: ScoringModel,
  rows: FeatureTable,
  { fit, seed }: TrainingConfig,
  method: SearchMethod,
  budget: number,
) {
  const search = SEARCHES[method];
  const { values, evaluations, isStart } = await searchOnTable(model, rows, fit.metric, (objective) =>
    search(model, objective, { budget, seed }),
  );
  return { values, found: { method, evaluations, isStart } };
}

/** Fits every method on a fold's training rows and scores the rows that it holds out. */
export async function fitFold(
  config: TrainingConfig,
  source: FeatureSource,
  fold: Fold,
  progress: StartProgress = ignoreProgress,
): Promise<FoldOutcome> {
  const fit = await fitWithSelection(source, fold, buildSelectionPlan(config), { progress });
  await letEventsIn();
  const rows = await source.gatherRowsFor(fold.training, fold.clusters);
  const held = await source.gatherRowsFor(fold.heldOut, fold.clusters);
  const { model } = fit;
  const budget = computeEqualBudget(fit.work, rows.queryIds.length);
  const drawn = await searchParameters(model, rows, config, 'random search', budget);
  const climbed = await searchParameters(model, rows, config, 'coordinate ascent', budget);
  const values: Record<FitMethod, Float64Array> = {
    'hand-tuned': listHandTunedValues(model),
    uniform: listUniformValues(model),
    'random search': drawn.values,
    'coordinate ascent': climbed.values,
    learned: fit.values,
  };
  const scores = new Float32Array(FIT_METHODS.length * held.mask.length);
  for (const [m, method] of FIT_METHODS.entries())
    scores.set(await scoreTable(model, values[method], held), m * held.mask.length);
  const { point, pointValues, validation, epochs, curve, path } = fit;
  const without = await measureWithoutEach(config, fit, selectChosenPoint(config, fit), rows, held);
  const searches = [drawn.found, climbed.found];
  return {
    scores,
    values: fit.values,
    clusters: fold.clusters,
    point,
    pointValues,
    validation,
    epochs,
    curve,
    path,
    without,
    heldOut: fold.heldOut.length,
    searches,
  };
}
