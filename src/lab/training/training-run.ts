import { attachDisplay } from '../../core/display/display.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { formatDecimal } from '../../core/text/format.ts';
import { type Estimate, groupIntoClusters, meanIntervals } from '../../eval/intervals/mean-intervals.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import { fitPoint } from '../../rank/learning/cross-validation.ts';
import { createTableMetric } from '../../rank/learning/fit-options.ts';
import type { HyperParameters } from '../../rank/learning/fitting.ts';
import { type ScoringModel, scoreTable } from '../../rank/learning/model.ts';
import { listArmsToRun, listFixedArms } from '../config/arm-selection.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import { readPoolParts, withPoolSteps } from '../config/fitted-arm.ts';
import { buildRankedResult, describeMeasured, listInspectedTurns } from '../measure/attribution.ts';
import type { FitResult, TransferResult } from '../measure/fit-result.ts';
import { selectJudgements } from '../measure/measurement.ts';
import { groupContentHashes } from '../measure/passport.ts';
import type { ExperimentResult } from '../measure/result.ts';
import { buildResultBundle } from '../measure/warning.ts';
import { captureEnvironment, runHash } from '../run/environment.ts';
import { type FinishedRun, type OpenRunContext, runExperiment } from '../run/run.ts';
import { buildSelectionPlan, listSeeds, measureMethods, selectMeasuring } from './fitted-methods.ts';
import { LearningTask, type TaskContext } from './learning-task.ts';
import { listMethodArms, trainModel } from './model-run.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';
import { trainUserWeights } from './user-weights.ts';

/** Weights trained on a task, with their training. */
interface TransferredModel {
  readonly task: LearningTask;
  readonly config: TrainingConfig;
  readonly model: ScoringModel;
  readonly values: Float64Array;
  /** The chosen point, with the number of epochs. */
  readonly point: HyperParameters;
}

/** Means with their intervals over the queries that have a relevant turn. @param scores row-major [Q, C] */
function measureTransferMetrics(
  { table }: LearningTask,
  { evaluation, seed }: TrainingConfig,
  scores: Float32Array,
): Record<string, Estimate> {
  const { metrics, samples, level } = evaluation;
  const clusters = groupIntoClusters(table.clusters);
  const columns = metrics.map((id) => createTableMetric(table, id).values(scores));
  const intervals = meanIntervals(columns, clusters, { samples, level, seed });
  return Object.fromEntries(metrics.map((id, m) => [id, intervals[m] as Estimate]));
}

/**
 * Uses a task on dev conversations and disposes it.
 *
 * @param encoders the task whose training conversations encoders are fitted on; absent for the task's own
 */
async function withTask<T>(
  config: TrainingConfig,
  { fittedOn: _, dataset: __, ...context }: TaskContext,
  encoders: LearningTask | null,
  use: (task: LearningTask) => Promise<T>,
): Promise<T> {
  const fitted = encoders === null ? {} : { fittedOn: encoders.dataset };
  const task = await LearningTask.open(config, { ...context, ...fitted });
  try {
    return await use(task);
  } finally {
    task.dispose();
  }
}

/**
 * The weights trained here on another dataset's dev conversations, and weights trained there on these; each with the
 * encoders that they were trained with.
 */
async function transferWeights(
  trained: TransferredModel,
  other: TrainingConfig['fit']['transfer'][number],
  context: TaskContext,
): Promise<TransferResult[]> {
  const { task, config, model, values, point } = trained;
  const progress: StartProgress = context.progress ?? ignoreProgress;
  const { name, dataset, steps, limitQueries } = other;
  const away = {
    ...config,
    dataset,
    arm: steps === undefined ? config.arm : withPoolSteps(config.arm, steps),
    evaluation: { ...config.evaluation, limitQueries, share: 1 },
  };
  const shown = progress(`transfer to and from ${name}`, 2);
  const scoreTask = async (tested: LearningTask, by: Pick<TransferredModel, 'model' | 'values'>) => ({
    queries: tested.queries.length,
    conversations: new Set(tested.table.clusters).size,
    metrics: measureTransferMetrics(tested, config, await scoreTable(by.model, by.values, tested.table)),
  });
  const there = await withTask(away, context, task, (tested) => scoreTask(tested, { model, values }));
  shown.update(1);
  const here = await withTask(away, context, null, async (source) => {
    const back = await fitPoint(source.table, point, buildSelectionPlan(config));
    return withTask(config, context, source, (tested) => scoreTask(tested, back));
  });
  shown.finish();
  return [
    { model: config.fit.model.name, trainedOn: config.name, testedOn: name, ...there },
    { model: config.fit.model.name, trainedOn: name, testedOn: config.name, ...here },
  ];
}

/**
 * The outcome of an experiment that fits an arm: the result for reports, whose arms are the ways to choose the numbers
 * of the model, with rankings of conversations by numbers that have not seen them.
 */
export interface FinishedTraining extends FinishedRun {
  readonly result: ExperimentResult & { readonly fit: FitResult };
}

function computePoolRecall({ table }: LearningTask): number {
  const count = (grades: Float32Array) =>
    grades.reduce((sum, grade) => sum + (grade >= table.relevantGrade ? 1 : 0), 0);
  const found = count(table.grades);
  return found / Math.max(1, found + count(table.missedGrades));
}

function listContentHashes(dataset: Dataset, clusters: readonly string[]): string[] {
  const all = groupContentHashes(dataset);
  return [...new Set(clusters.flatMap((cluster) => all.get(cluster) ?? []))];
}

/** Sentences on the folds of the figures, and on the limit that the pool of candidates sets. */
function describeTraining(
  { fit: { folds, innerFolds }, arm }: TrainingConfig,
  conversations: number,
  { poolRecall, signals }: Pick<FitResult, 'poolRecall' | 'signals'>,
): string[] {
  const outer =
    folds === 'leave-one-out'
      ? `${conversations} folds, a conversation each`
      : typeof folds === 'number'
        ? `${folds} folds of conversations`
        : `${folds.length} listed folds of conversations`;
  const found = readPoolParts(arm)
    .sources.map(({ index: { index } }) => index)
    .join(' + ');
  return [
    `Every ranking is by numbers that have not seen its conversation: ${outer}; hyper-parameters by ${innerFolds} folds within the others.`,
    `The candidates (${found}) hold ${formatDecimal(poolRecall, 3)} of the relevant turns; no order of them finds more. ${signals.length} signals.`,
  ];
}

function describeFixed(fixed: FinishedRun | null): string[] {
  if (fixed === null) return [];
  const names = fixed.result.arms.map(({ name }) => name).join(', ');
  return [`Not fitted, with encoders of all dev conversations: ${names}.`, ...fixed.result.remarks];
}

/**
 * The facts of a result that its arms without a fit add; seconds are left out, since those of the fit are not counted.
 */
function selectFixedFacts(fixed: FinishedRun | null): Partial<ExperimentResult> {
  if (fixed === null) return {};
  const { failures, warnings } = fixed.result;
  return { failures, ...(warnings && { warnings }) };
}

/**
 * Runs the arms of a config that are not fitted; null if the config has only the fitted arm.
 *
 * @param dataset already loaded; a local kernel of slices loads its own
 */
async function runFixedArms(
  config: ExperimentConfig,
  context: OpenRunContext,
  dataset: Dataset,
): Promise<FinishedRun | null> {
  const fixed = listFixedArms(config);
  const arms = listArmsToRun(config).filter((arm) => fixed.includes(arm));
  const [first] = arms;
  if (first === undefined) return null;
  // One sample: the arms are measured again beside those of the fit.
  const evaluation = { ...config.evaluation, baseline: first.name, samples: 1 };
  const loaded = arms.some(({ slice }) => slice) ? {} : { dataset };
  return runExperiment({ ...config, arms, only: null, evaluation }, { ...context, ...loaded });
}

/**
 * Fits the arm of a config on the dev conversations of its dataset, and runs its other arms on the same queries; the
 * test split is not looked at.
 */
export async function runTraining(experiment: ExperimentConfig, context: OpenRunContext): Promise<FinishedTraining> {
  const config = readTraining(experiment);
  const task = await LearningTask.open(config, context);
  const { progress = ignoreProgress, backend, command } = context;
  const { dataset, table } = task;
  const { fit: options } = config;
  try {
    const fixed = await runFixedArms(experiment, context, dataset);
    const environment = captureEnvironment(backend, config.seed, command, config.dataset, config.plugins);
    const clusters = [...new Set(table.clusters)];
    const provenance = {
      config: { ...experiment, embedding: config.embedding, signals: config.signals },
      dataHash: dataset.hash,
      seeds: listSeeds(config),
      commit: environment.commit,
      backend,
      trainingClusters: clusters,
      trainingContents: listContentHashes(dataset, clusters),
    };
    const users = options.users === undefined ? null : await trainUserWeights(task, config, progress);
    const trained = await trainModel({ task, config, progress });
    const { model, values } = trained;
    const fixedRuns = (fixed?.result.arms ?? []).map(({ name }) => [name, fixed?.runs.get(name) as Run] as const);
    const { baseline } = config.evaluation;
    const measurement = await measureMethods(task, config, new Map([...fixedRuns, ...trained.runs]), baseline);
    const transfer: TransferResult[] = [];
    for (const other of options.transfer)
      transfer.push(...(await transferWeights({ ...trained, task, config }, other, context)));
    const fit: FitResult = {
      ...{ signals: table.signals, poolRecall: computePoolRecall(task) },
      ...{ validatedBy: options.metric, resamples: options.resamples },
      ...trained.fit,
      transfer,
    };
    const measured = { ...measurement, arms: measurement.arms.slice(fixedRuns.length) };
    const arms = [
      ...(fixed?.result.arms ?? []).map((arm, a) => ({ ...arm, ...measurement.arms[a] })),
      ...listMethodArms(trained, measured, config.evaluation.inspect),
    ];
    const rankings = arms.flatMap((arm) => arm.rankings);
    const turns = listInspectedTurns(dataset, measurement.queries, rankings);
    const facts = {
      name: config.name,
      hash: runHash(experiment, dataset.hash, backend),
      ...{ description: config.description, environment, config: { ...experiment } },
      ...describeMeasured(dataset, measurement, 'dev', turns),
      ...selectFixedFacts(fixed),
      ...{ arms, fit, users: users?.result },
      remarks: [...describeTraining(config, clusters.length, fit), ...describeFixed(fixed)],
    };
    const result = { ...buildRankedResult(facts, measurement, selectMeasuring(config, baseline)), fit };
    return attachDisplay(
      {
        result,
        weights: new Map([[fit.file, { model, values, provenance }]]),
        users: users === null ? null : { provenance, users: users.users },
        runs: new Map([...fixedRuns, ...trained.runs, ...prefixUserRuns(users?.runs)]),
        ...{ ...selectJudgements(dataset, task.queries), corpus: dataset.corpus, config: experiment },
        ...{ records: fixed?.records ?? [], sliceKeys: fixed?.sliceKeys ?? null, look: null },
      },
      () => buildResultBundle(result),
    );
  } finally {
    task.dispose();
  }
}

/** The rankings by weights of users, under names that no arm has. */
function prefixUserRuns(runs: ReadonlyMap<string, Run> = new Map()) {
  return Array.from(runs, ([method, run]) => [`users, ${method}`, run] as const);
}
