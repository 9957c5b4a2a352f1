import { silent } from '../core/progress.ts';
import type { Measurement } from '../experiment/measure/measurement.ts';
import { fitWithSelection, type HyperParameters } from '../learning/cross-validation.ts';
import { everyRow } from '../learning/folds.ts';
import type { ScoringModel } from '../learning/model.ts';
import { handTunedValues } from '../learning/parameters.ts';
import type { Run } from '../model/run.ts';
import { bootstrappedWeights, type ParameterBounds } from './bootstrapped-weights.ts';
import {
  chosenPoint,
  type FoldOutcome,
  fitFold,
  gridPoints,
  METHODS,
  outerFolds,
  selectionPlan,
} from './fitted-methods.ts';
import { HeldOutRows } from './held-out-rows.ts';
import { BASELINE, measuredCounts, measureMethods, methodResults } from './measured-methods.ts';
import { jobKey, type ModelJob } from './model-job.ts';
import { controlsOf, importanceOf } from './refits.ts';
import type { LearnedNumber, ModelResult, SearchSummary } from './training-result.ts';

export interface TrainedModel {
  readonly result: ModelResult;
  readonly model: ScoringModel;
  readonly values: Float64Array;
  /** The training of the values. */
  readonly point: HyperParameters;
  /** Rankings of rows by weights that have not seen them, by method. */
  readonly runs: ReadonlyMap<string, Run>;
  readonly measurement: Measurement;
}

/** Every method's scores of every row, by models that have not seen its fold. */
async function crossValidated(job: ModelJob) {
  const { task, config, options, progress = silent } = job;
  const folds = outerFolds(config, task.features);
  const shown = progress(`folds of ${options.name}`, folds.length);
  const outcomes: FoldOutcome[] = [];
  for (const fold of folds) {
    const compute = () => fitFold(config, options, task.features, fold);
    outcomes.push(await task.kept('trained-fold', [jobKey(job), fold.clusters], compute));
    shown.update(outcomes.length);
  }
  shown.finish(`${folds.length} folds`);
  const rows = await HeldOutRows.of(task, folds);
  const ofMethod = (scores: Float32Array, m: number) => {
    const size = scores.length / METHODS.length;
    return scores.subarray(m * size, (m + 1) * size);
  };
  const scores = METHODS.map((_, m) => rows.joined(outcomes.map((outcome) => ofMethod(outcome.scores, m))));
  return { rows, scores, outcomes };
}

/** The weights that are kept: chosen and trained on all rows. */
async function finalFit(job: ModelJob) {
  const plan = selectionPlan(job.config, job.options);
  const { features } = job.task;
  const kept = await job.task.kept('trained-weights', jobKey(job), async () => {
    const { values, point, validation, epochs, curve } = await fitWithSelection(features, everyRow(features), plan);
    return { values, point, validation: [...validation], epochs, curve: [...curve] };
  });
  return { ...kept, model: plan.modelOf(job.task.table) };
}

function numbersOf(model: ScoringModel, values: Float64Array, bounds: ParameterBounds | null): LearnedNumber[] {
  const handTuned = handTunedValues(model);
  const named = model.parameters.flatMap(({ name, labels }) => labels.map((label) => ({ parameter: name, label })));
  return named.map((name, p) => ({
    ...name,
    handTuned: handTuned[p] as number,
    value: values[p] as number,
    interval: bounds === null ? null : { low: bounds.low[p] as number, high: bounds.high[p] as number },
  }));
}

/** The result of each search in all folds. */
function searchesOf(outcomes: readonly FoldOutcome[]): SearchSummary[] {
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

/** Intervals of the learned numbers. */
async function boundsOf(job: ModelJob, fit: Awaited<ReturnType<typeof finalFit>>): Promise<ParameterBounds | null> {
  const { config, task, progress = silent } = job;
  const { resamples, level } = config.evaluation;
  if (resamples === 0) return null;
  const shown = progress('resampled trainings', resamples);
  const options = { resamples, level, seed: config.seed };
  const bounds = await task.kept('weight-bounds', [jobKey(job), options], async () => ({
    ...(await bootstrappedWeights(fit.model, task.table, chosenPoint(config, fit), options, (done) =>
      shown.update(done),
    )),
  }));
  shown.finish();
  return bounds;
}

/** Trains a model, measures it on held-out conversations, and compares it with the other methods. */
export async function trainModel(job: ModelJob): Promise<TrainedModel> {
  const { task, config, options } = job;
  const validated = await crossValidated(job);
  const { rows } = validated;
  const runs = new Map<string, Run>(
    METHODS.map((method, m) => [method, rows.runOf(validated.scores[m] as Float32Array)]),
  );
  const measurement = await measureMethods(task, config, runs);
  const fit = await finalFit(job);
  const bounds = await boundsOf(job, fit);
  const learned = validated.scores[METHODS.indexOf('learned')] as Float32Array;
  const handTuned = validated.scores[METHODS.indexOf(BASELINE)] as Float32Array;
  const refits = { ...validated, learned: runs.get('learned') as Run, handTuned };
  const points = gridPoints(config).map(({ point }) => point);
  return {
    model: fit.model,
    values: fit.values,
    point: chosenPoint(config, fit),
    runs,
    measurement,
    result: {
      name: options.name,
      methods: methodResults(runs.keys(), measurement),
      baseline: BASELINE,
      measured: measuredCounts(measurement),
      numbers: numbersOf(fit.model, fit.values, bounds),
      folds: validated.outcomes.map(({ clusters, point, validation, epochs, curve }) => ({
        clusters,
        validation,
        point: points[point] ?? {},
        epochs,
        curve,
      })),
      searches: searchesOf(validated.outcomes),
      curve: fit.curve,
      point: points[fit.point] ?? {},
      validation: fit.validation,
      epochs: fit.epochs,
      calibration: rows.calibrationOf(learned, config.fitting.temperature),
      importance: await importanceOf(job, refits),
      controls: await controlsOf(job, refits),
      file: `weights-${options.name}.safetensors`,
    },
  };
}
