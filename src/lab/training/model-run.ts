import { quantile } from '../../core/numbers/distributions.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { Run } from '../../model/run.ts';
import { fitWithSelection } from '../../rank/learning/cross-validation.ts';
import { type FeatureTable, selectQueries } from '../../rank/learning/feature-table.ts';
import { fitModel, type HyperParameters } from '../../rank/learning/fitting.ts';
import { buildWholeFold } from '../../rank/learning/folds.ts';
import type { LinearModel } from '../../rank/learning/linear-model.ts';
import type { ScoringModel } from '../../rank/learning/model.ts';
import { listHandTunedValues } from '../../rank/learning/parameters.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import { buildRankedArms } from '../measure/attribution.ts';
import type { FitResult, LearnedNumber, SearchSummary } from '../measure/fit-result.ts';
import type { Measurement } from '../measure/measurement.ts';
import type { ArmResult, RankedTurn, StepEffect } from '../measure/result.ts';
import {
  BASELINE,
  buildSelectionPlan,
  describeMethod,
  type FoldOutcome,
  fitFold,
  listFittingPoints,
  selectChosenPoint,
} from './fitted-methods.ts';
import { countPoolSteps, describeFittedSteps, type MixedRankings } from './fitted-steps.ts';
import { buildTaskFolds, decomposeHeldOut, HeldOutRows, type RankingParts } from './held-out-contributions.ts';
import { buildJobKey, type ModelJob } from './learning-task.ts';
import { measureImportance, measureNullControls } from './refits.ts';
import { keepSelected, summariseSelection } from './selected-signals.ts';

/** The part of a fit that training the model gives. */
type ModelFit = Omit<FitResult, 'signals' | 'poolRecall' | 'validatedBy' | 'resamples' | 'transfer'>;

export interface TrainedModel {
  readonly fit: ModelFit;
  readonly model: ScoringModel;
  readonly values: Float64Array;
  /** The training of the values. */
  readonly point: HyperParameters;
  /** Rankings of rows by weights that have not seen them, by method. */
  readonly runs: ReadonlyMap<string, Run>;
  /** The parts of the scores at the top of each ranking, by method. */
  readonly parts: ReadonlyMap<string, RankingParts>;
  /** The steps of the arm with the queries that they change, by method. */
  readonly steps: ReadonlyMap<string, readonly StepEffect[]>;
}

/** Every method's scores of every row, by models that have not seen its fold. */
async function crossValidateModel(job: ModelJob) {
  const { task, config, progress = ignoreProgress } = job;
  const folds = buildTaskFolds(task, config);
  const shown = progress(`folds of ${config.fit.model.name}`, folds.length);
  const outcomes: FoldOutcome[] = [];
  for (const fold of folds) {
    const compute = () => fitFold(config, task.features, fold, progress);
    outcomes.push(await task.keepResult('trained-fold', [buildJobKey(job), fold.clusters], compute));
    shown.update(outcomes.length);
  }
  shown.finish(`${folds.length} folds`);
  const rows = await HeldOutRows.of(task, folds, config.evaluation.depth);
  const sliceMethod = (scores: Float32Array, m: number) => {
    const size = scores.length / FIT_METHODS.length;
    return scores.subarray(m * size, (m + 1) * size);
  };
  const scores = FIT_METHODS.map((_, m) =>
    rows.joinFoldScores(outcomes.map((outcome) => sliceMethod(outcome.scores, m))),
  );
  return { rows, scores, outcomes };
}

/** The weights that are kept: chosen and trained on all rows. */
async function fitFinalWeights(job: ModelJob) {
  const { progress = ignoreProgress } = job;
  const plan = buildSelectionPlan(job.config);
  const { features } = job.task;
  const kept = await job.task.keepResult('trained-weights', buildJobKey(job), async () => {
    const { values, point, validation, epochs, curve, path } = await fitWithSelection(
      features,
      buildWholeFold(features),
      plan,
      { progress },
    );
    return { values, point, validation: [...validation], epochs, curve: [...curve], path: [...path] };
  });
  return { ...kept, model: plan.modelOf(job.task.table) };
}

function listLearnedNumbers(
  model: ScoringModel,
  values: Float64Array,
  bounds: ParameterBounds | null,
): LearnedNumber[] {
  const handTuned = listHandTunedValues(model);
  const named = model.parameters.flatMap(({ name, labels }) => labels.map((label) => ({ parameter: name, label })));
  return named.map((name, p) => ({
    ...name,
    handTuned: handTuned[p] as number,
    value: values[p] as number,
    interval: bounds === null ? null : { low: bounds.low[p] as number, high: bounds.high[p] as number },
  }));
}

/** The result of each search in all folds. */
function summariseSearches(outcomes: readonly FoldOutcome[]): SearchSummary[] {
  const methods = [...new Set(outcomes.flatMap(({ searches }) => searches.map(({ method }) => method)))];
  return methods.map((method) => {
    const own = outcomes.flatMap(({ searches }) => searches.filter((search) => search.method === method));
    return {
      method,
      evaluations: own.map(({ evaluations }) => evaluations),
      foldsAtStart: own.filter(({ isStart }) => isStart).length,
    };
  });
}

/** Bounds of each number. [P] */
interface ParameterBounds {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Rows of as many conversations as there are, drawn with replacement. */
function resampleRows({ clusters }: FeatureTable, stream: ReturnType<typeof createRandom>): Int32Array {
  const rowsOf = new Map<string, number[]>();
  for (const [row, cluster] of clusters.entries()) {
    const rows = rowsOf.get(cluster);
    if (rows === undefined) rowsOf.set(cluster, [row]);
    else rows.push(row);
  }
  const groups = [...rowsOf.values()];
  return Int32Array.from(groups.flatMap(() => groups[stream.integer(groups.length)] as number[]));
}

/**
 * Percentile intervals of learned numbers, from trainings on resampled conversations with the hyper-parameters and the
 * number of epochs that were chosen.
 *
 * @param model with constant standardisation, so that one unit of a signal means the same in every resample
 */
export async function bootstrapWeights(
  model: ScoringModel,
  table: FeatureTable,
  point: HyperParameters,
  options: { readonly resamples: number; readonly level: number; readonly seed: number },
  onResample: (done: number) => void = () => {},
): Promise<ParameterBounds> {
  const stream = createRandom(options.seed, 'bootstrapped weights');
  const draws: Float64Array[] = [];
  for (let i = 0; i < options.resamples; i++) {
    const rows = selectQueries(table, resampleRows(table, stream));
    const { values } = await fitModel(model, rows, null, { ...point, seed: options.seed });
    draws.push(values);
    onResample(i + 1);
  }
  const computeQuantiles = (share: number) =>
    (draws[0] as Float64Array).map((_, p) =>
      quantile(Float64Array.from(draws, (draw) => draw[p] as number).sort(), share),
    );
  const tail = (1 - options.level) / 2;
  return { low: computeQuantiles(tail), high: computeQuantiles(1 - tail) };
}

/** Intervals of the learned numbers. */
async function bootstrapBounds(
  job: ModelJob,
  fit: Awaited<ReturnType<typeof fitFinalWeights>>,
): Promise<ParameterBounds | null> {
  const { config, task, progress = ignoreProgress } = job;
  const { resamples } = config.fit;
  const { level } = config.evaluation;
  if (resamples === 0) return null;
  const shown = progress('resampled trainings', resamples);
  const options = { resamples, level, seed: config.seed };
  const bounds = await task.keepResult('weight-bounds', [buildJobKey(job), options], async () => ({
    ...(await bootstrapWeights(fit.model, task.table, selectChosenPoint(config, fit), options, (done) =>
      shown.update(done),
    )),
  }));
  shown.finish();
  return bounds;
}

/** True for a search that kept the weights of its start in each fold. */
function isAtStart(method: string, outcomes: readonly FoldOutcome[]): boolean {
  const own = outcomes.flatMap(({ searches }) => searches.filter((search) => search.method === method));
  return own.length > 0 && own.every(({ isStart }) => isStart);
}

/** The rankings by each method; of the learned one with the weights that are kept. */
function listMixedRankings(
  { rows, outcomes }: Pick<Awaited<ReturnType<typeof crossValidateModel>>, 'rows' | 'outcomes'>,
  runs: ReadonlyMap<string, Run>,
  learned: Float64Array,
): MixedRankings[] {
  return FIT_METHODS.map((method) => ({
    method,
    mixed: rows.countMixed(runs.get(method) as Run),
    values: method === 'learned' ? learned : null,
    isStart: isAtStart(method, outcomes),
  }));
}

/**
 * Trains a model, measures it on held-out conversations, and compares it with the other methods.
 *
 * @throws ValidationError for a step of the arm that changes no query, and states no reason.
 */
export async function trainModel(job: ModelJob): Promise<TrainedModel> {
  const { config, task } = job;
  const { name } = config.fit.model;
  const before = await countPoolSteps(task, config);
  const validated = await crossValidateModel(job);
  const { rows } = validated;
  const runs = new Map<string, Run>(
    FIT_METHODS.map((method, m) => [method, rows.rankAllRows(validated.scores[m] as Float32Array)]),
  );
  const fit = await fitFinalWeights(job);
  const mixed = listMixedRankings(validated, runs, fit.values);
  const steps = describeFittedSteps(task, config, fit.model, before, mixed);
  const bounds = await bootstrapBounds(job, fit);
  const learned = validated.scores[FIT_METHODS.indexOf('learned')] as Float32Array;
  const handTuned = validated.scores[FIT_METHODS.indexOf(BASELINE)] as Float32Array;
  const refits = { ...validated, learned: runs.get('learned') as Run, handTuned };
  const points = listFittingPoints(config).map(({ point }) => point);
  const isSelected = config.fit.select !== null;
  const { model, keep } = isSelected
    ? keepSelected(fit.model as LinearModel, fit.path)
    : { model: fit.model, keep: (values: Float64Array) => values };
  const values = keep(fit.values);
  const kept = bounds && { low: keep(bounds.low), high: keep(bounds.high) };
  return {
    model,
    values,
    point: selectChosenPoint(config, fit),
    runs,
    parts: await decomposeHeldOut(job, rows.folds, validated.outcomes),
    steps,
    fit: {
      model: name,
      numbers: listLearnedNumbers(model, values, kept),
      ...(isSelected ? { selection: summariseSelection(config, fit, validated.outcomes) } : {}),
      folds: validated.outcomes.map(({ clusters, point, validation, epochs, curve }) => ({
        clusters,
        validation,
        point: points[point] ?? {},
        epochs,
        curve,
      })),
      searches: summariseSearches(validated.outcomes),
      curve: fit.curve,
      point: points[fit.point] ?? {},
      validation: fit.validation,
      epochs: fit.epochs,
      calibration: rows.measureHeldOutCalibration(learned, config.fit.temperature),
      importance: await measureImportance(job, refits),
      controls: await measureNullControls(job, refits),
      file: `weights-${name}.safetensors`,
    },
  };
}

/**
 * The methods as arms with the first ranks of their rankings, and of some methods the parts of each score.
 *
 * @param measurement of the methods alone, in their order
 */
export function listMethodArms(
  { runs, parts, steps }: Pick<TrainedModel, 'runs' | 'parts' | 'steps'>,
  measurement: Measurement,
  inspect: number,
): ArmResult[] {
  const arms = Array.from(runs, ([name, run]) => {
    const { names = [], byQuery } = parts.get(name) ?? {};
    const rankings = measurement.queries.map(({ id }): RankedTurn[] =>
      (run.get(id) ?? []).slice(0, inspect).map((turn, rank) => ({
        ...turn,
        components: [],
        contributions: byQuery?.get(id)?.slice(rank * names.length, (rank + 1) * names.length) ?? [],
      })),
    );
    return {
      ...{ name, description: describeMethod(name), contributionNames: names, rankings },
      steps: steps.get(name) as readonly StepEffect[],
    };
  });
  return buildRankedArms(arms, measurement);
}
