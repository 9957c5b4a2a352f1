import { letEventsIn } from '../../core/event-loop.ts';
import { type StartProgress, silent } from '../../core/progress.ts';
import { calibrationOf, softmaxProbabilities } from '../../learning/calibration.ts';
import { fitWithSelection, type HyperParameters } from '../../learning/cross-validation.ts';
import { subset } from '../../learning/feature-table.ts';
import type { ScoringModel } from '../../learning/model.ts';
import { handTunedValues } from '../../learning/parameters.ts';
import { scoreTable } from '../../learning/table-scorer.ts';
import { train } from '../../learning/training.ts';
import type { Run } from '../../model/run.ts';
import type { Measurement } from '../measurement.ts';
import { bootstrappedWeights, type ParameterBounds } from './bootstrapped-weights.ts';
import { type FoldOutcome, fitFold, gridPoints, METHODS, outerFolds, selectionPlan } from './fitted-methods.ts';
import type { LearningTask } from './learning-task.ts';
import { BASELINE, DEPTH, measuredCounts, measureMethods, methodResults } from './measured-methods.ts';
import { runOfScores } from './scored-runs.ts';
import { signalFamilies } from './signal-families.ts';
import type { TrainingConfig } from './training-config.ts';
import { modelMaker } from './training-models.ts';
import type { Importance, LearnedNumber, ModelResult } from './training-result.ts';

/** A model of a config, on the rows of a task. */
export interface ModelJob {
  readonly task: LearningTask;
  readonly config: TrainingConfig;
  readonly options: TrainingConfig['models'][number];
  readonly progress?: StartProgress;
}

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

/** Everything that the work on a model depends on besides the table. */
function keyOf({ config: { fitting, crossValidation, seed }, options }: ModelJob) {
  return { options, fitting, crossValidation, seed };
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
    const outcome = await task.kept('trained-fold', [keyOf(job), fold.clusters], compute);
    const size = fold.heldOut.length * table.width;
    for (const [i, row] of fold.heldOut.entries()) {
      for (const [m, all] of scores.entries()) {
        const from = m * size + i * table.width;
        all.set(outcome.scores.subarray(from, from + table.width), row * table.width);
      }
    }
    outcomes.push(outcome);
    shown.update(outcomes.length);
  }
  shown.finish(`${folds.length} folds`);
  return { scores, outcomes, folds };
}

/** The weights that are kept: chosen and trained on all rows. */
async function finalFit(job: ModelJob) {
  const plan = selectionPlan(job.config, job.options);
  const kept = await job.task.kept('trained-weights', keyOf(job), async () => {
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

/** The chosen point with a fixed number of epochs, as the last training takes it. */
function pointOf({ config }: ModelJob, point: number, epochs: number): HyperParameters {
  return { ...(gridPoints(config)[point]?.training as HyperParameters), epochs };
}

/** Intervals of the learned numbers. */
async function boundsOf(job: ModelJob, fit: Awaited<ReturnType<typeof finalFit>>): Promise<ParameterBounds | null> {
  const { config, task, progress = silent } = job;
  const { resamples, level } = config.evaluation;
  if (resamples === 0) return null;
  const shown = progress('resampled trainings', resamples);
  const options = { resamples, level, seed: config.seed };
  const bounds = await task.kept('weight-bounds', [keyOf(job), options], async () => ({
    ...(await bootstrappedWeights(fit.model, task.table, pointOf(job, fit.point, fit.epochs), options, (done) =>
      shown.update(done),
    )),
  }));
  shown.finish();
  return bounds;
}

/** The learned method's scores with other signals, by what each fold chose with all of them. @param without signals that are left out */
async function scoresWithout(
  job: ModelJob,
  { folds, outcomes }: Awaited<ReturnType<typeof crossValidated>>,
  without: readonly string[],
): Promise<Float32Array> {
  const { task, options } = job;
  const { table } = task;
  const scores = new Float32Array(table.mask.length);
  if (options.name !== 'linear') return scores;
  const signals = modelMaker(options)(table).signals.filter((signal) => !without.includes(signal));
  for (const [f, fold] of folds.entries()) {
    const { point, epochs } = outcomes[f] as FoldOutcome;
    const rows = subset(table, fold.training);
    const model = modelMaker({ ...options, signals })(rows);
    const { values } = await train(model, rows, null, { ...pointOf(job, point, epochs), seed: job.config.seed });
    const own = await scoreTable(model, values, subset(table, fold.heldOut));
    for (const [i, row] of fold.heldOut.entries())
      scores.set(own.subarray(i * table.width, (i + 1) * table.width), row * table.width);
    await letEventsIn();
  }
  return scores;
}

/** What each family of signals is worth: the learned method without it against the learned method. */
async function importanceOf(
  job: ModelJob,
  validated: Awaited<ReturnType<typeof crossValidated>>,
  runOf: (scores: Float32Array) => Run,
  learned: Run,
): Promise<Importance[]> {
  const { task, config, options, progress = silent } = job;
  if (!config.importance || options.name !== 'linear') return [];
  const families = [...signalFamilies(modelMaker(options)(task.table).signals)];
  const shown = progress('importance', families.length);
  const runs = new Map([['learned', learned]]);
  for (const [family, signals] of families) {
    const { scores } = await task.kept('without-signals', [keyOf(job), signals], async () => ({
      scores: await scoresWithout(job, validated, signals),
    }));
    runs.set(`without ${family}`, runOf(scores));
    shown.update(runs.size - 1);
  }
  shown.finish(`${families.length} families of signals`);
  const { arms } = await measureMethods(task, config, runs, 'learned');
  return families.map(([family, signals], i) => ({
    family,
    signals,
    comparisons: arms[i + 1]?.comparisons as Importance['comparisons'],
  }));
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
  const probabilities = softmaxProbabilities(table, learned, config.fitting.temperature);
  const points = gridPoints(config).map(({ point }) => point);
  return {
    model: fit.model,
    values: fit.values,
    point: pointOf(job, fit.point, fit.epochs),
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
      importance: await importanceOf(job, validated, runOf, runs.get('learned') as Run),
      file: `weights-${options.name}.safetensors`,
    },
  };
}
