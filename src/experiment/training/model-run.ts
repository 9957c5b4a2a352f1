import { silent } from '../../core/progress.ts';
import { calibrationOf, softmaxProbabilities } from '../../learning/calibration.ts';
import { fitWithSelection, type HyperParameters } from '../../learning/cross-validation.ts';
import { putRows } from '../../learning/folds.ts';
import type { ScoringModel } from '../../learning/model.ts';
import { handTunedValues } from '../../learning/parameters.ts';
import type { Run } from '../../model/run.ts';
import type { Measurement } from '../measurement.ts';
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
import { BASELINE, DEPTH, measuredCounts, measureMethods, methodResults } from './measured-methods.ts';
import { jobKey, type ModelJob } from './model-job.ts';
import { controlsOf, importanceOf } from './refits.ts';
import { runOfScores } from './scored-runs.ts';
import type { LearnedNumber, ModelResult } from './training-result.ts';

export interface TrainedModel {
  readonly result: ModelResult;
  readonly model: ScoringModel;
  readonly values: Float64Array;
  /** What the values were trained with. */
  readonly point: HyperParameters;
  /** Rankings of rows by weights that have not seen them, by method. */
  readonly runs: ReadonlyMap<string, Run>;
  readonly measurement: Measurement;
}

/** Every method's scores of every row, by models that have not seen its fold. */
async function crossValidated(job: ModelJob) {
  const { task, config, options, progress = silent } = job;
  const { table } = task;
  const folds = outerFolds(config, table);
  const shown = progress(`folds of ${options.name}`, folds.length);
  const scores = METHODS.map(() => new Float32Array(table.mask.length));
  const outcomes: FoldOutcome[] = [];
  for (const fold of folds) {
    const compute = () => fitFold(config, options, table, fold);
    const outcome = await task.kept('trained-fold', [jobKey(job), fold.clusters], compute);
    const size = fold.heldOut.length * table.width;
    for (const [m, all] of scores.entries())
      putRows(outcome.scores.subarray(m * size, (m + 1) * size), fold.heldOut, table.width, all);
    outcomes.push(outcome);
    shown.update(outcomes.length);
  }
  shown.finish(`${folds.length} folds`);
  return { scores, outcomes, folds };
}

/** The weights that are kept: chosen and trained on all rows. */
async function finalFit(job: ModelJob) {
  const plan = selectionPlan(job.config, job.options);
  const kept = await job.task.kept('trained-weights', jobKey(job), async () => {
    const { values, point, validation, epochs, curve } = await fitWithSelection(job.task.table, plan);
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

/** Trains a model, and measures it on conversations that it has not seen, beside the other ways to come by its numbers. */
export async function trainModel(job: ModelJob): Promise<TrainedModel> {
  const { task, config, options } = job;
  const { table } = task;
  const validated = await crossValidated(job);
  const runOf = (scores: Float32Array) => runOfScores(task.dataset.corpus, table, task.pool, scores, DEPTH);
  const runs = new Map<string, Run>(METHODS.map((method, m) => [method, runOf(validated.scores[m] as Float32Array)]));
  const measurement = await measureMethods(task, config, runs);
  const fit = await finalFit(job);
  const bounds = await boundsOf(job, fit);
  const learned = validated.scores[METHODS.indexOf('learned')] as Float32Array;
  const refits = { ...validated, runOf, learned: runs.get('learned') as Run };
  const probabilities = softmaxProbabilities(table, learned, config.fitting.temperature);
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
      curve: fit.curve,
      point: points[fit.point] ?? {},
      validation: fit.validation,
      epochs: fit.epochs,
      calibration: calibrationOf(table, probabilities),
      importance: await importanceOf(job, refits),
      controls: await controlsOf(job, refits),
      file: `weights-${options.name}.safetensors`,
    },
  };
}
