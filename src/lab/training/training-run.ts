import { attachDisplay } from '../../core/display/display.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { formatDecimal } from '../../core/text/format.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import type { UserWeights } from '../../rank/learning/user-weights-file.ts';
import type { Weights } from '../../rank/learning/weight-file.ts';
import { groupContentHashes } from '../measure/cluster-conversations.ts';
import type { FitResult, TransferResult } from '../measure/fit-result.ts';
import { buildQueryRecord, listInspectedTurns } from '../measure/inspection.ts';
import { selectQrels } from '../measure/measurement.ts';
import { buildRankedResult } from '../measure/ranked-result.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';
import { buildResultBundle } from '../measure/result-display.ts';
import { captureEnvironment } from '../run/environment.ts';
import type { MeasuredRankings } from '../run/run-folder.ts';
import { LearningTask, type TaskContext } from './learning-task.ts';
import { BASELINE, selectMeasuring } from './measured-methods.ts';
import { listMethodArms, trainModel } from './model-run.ts';
import type { TrainingConfig } from './training-config.ts';
import { transferWeights } from './transfer.ts';
import { trainUserWeights } from './user-weights.ts';

/** Where a training is executed: the cache folder (by default none), the backend and the command line that its result stores, and its progress report (by default none). */
export interface TrainingContext extends TaskContext {
  readonly backend: string;
  readonly command: string;
}

/**
 * The outcome of a training: the result for reports, whose arms are the ways to choose the numbers of the model, with
 * rankings of conversations by numbers that have not seen them.
 */
export interface FinishedTraining extends MeasuredRankings {
  readonly result: ExperimentResult & { readonly fit: FitResult };
  /** By the names of their files. */
  readonly weights: ReadonlyMap<string, Weights>;
  /** The weights of users, if the config asks for them. */
  readonly users: UserWeights | null;
}

/** @param arms whose ranked turns reports show. */
function summariseDataset({ dataset }: LearningTask, queries: readonly Query[], arms: readonly ArmResult[]) {
  const { name, declaration, relevantGrade, gradeNames, hash, facts } = dataset;
  const turns = listInspectedTurns(
    dataset,
    queries,
    arms.flatMap(({ rankings }) => rankings),
  );
  return { name, ...declaration, relevantGrade, gradeNames, hash, split: 'dev', facts, turns };
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

/** A config without the paths of its plugins, whose hashes stand for their code. */
function withoutModules({ plugins, ...config }: TrainingConfig): object {
  return plugins === undefined ? config : { ...config, plugins: plugins.map(({ module: _, ...identity }) => identity) };
}

/** Sentences on the folds of the figures, and on the limit that the pool of candidates sets. */
function describeTraining(
  { crossValidation: { outer, inner }, candidates }: TrainingConfig,
  conversations: number,
  { poolRecall, signals }: Pick<FitResult, 'poolRecall' | 'signals'>,
): string[] {
  const folds =
    outer === 'leave-one-out'
      ? `${conversations} folds, a conversation each`
      : typeof outer === 'number'
        ? `${outer} folds of conversations`
        : `${outer.length} listed folds of conversations`;
  const found = candidates.map(({ index }) => index).join(' + ');
  return [
    `Every ranking is by numbers that have not seen its conversation: ${folds}; hyper-parameters by ${inner} folds within the others.`,
    `The candidates (${found}) hold ${formatDecimal(poolRecall, 3)} of the relevant turns; no order of them finds more. ${signals.length} signals.`,
  ];
}

/** Trains the model of a config on the dev conversations of its dataset; the test split is not looked at. */
export async function runTraining(config: TrainingConfig, context: TrainingContext): Promise<FinishedTraining> {
  const task = await LearningTask.open(config, 'dev', context);
  const { progress = ignoreProgress, backend, command } = context;
  const { dataset, table } = task;
  try {
    const environment = captureEnvironment(backend, config.seed, command, config.dataset, config.plugins);
    const clusters = [...new Set(table.clusters)];
    const provenance = {
      config: { ...config },
      dataHash: dataset.hash,
      seeds: Array.from({ length: config.fitting.seeds }, (_, i) => config.seed + i),
      commit: environment.commit,
      backend,
      trainingClusters: clusters,
      trainingContents: listContentHashes(dataset, clusters),
    };
    const users = config.users === undefined ? null : await trainUserWeights(task, config, progress);
    const { model: options } = config;
    const trained = await trainModel({ task, config, options, progress });
    const { measurement, model, values } = trained;
    const transfer: TransferResult[] = [];
    for (const other of config.transfer)
      transfer.push(...(await transferWeights({ ...trained, task, config, options }, other, context)));
    const fit: FitResult = {
      ...{ signals: table.signals, poolRecall: computePoolRecall(task) },
      ...{ validatedBy: config.fitting.metric, resamples: config.evaluation.resamples },
      ...trained.fit,
      transfer,
    };
    const arms = listMethodArms(trained);
    const facts = {
      name: config.name,
      hash: computeHash({ config: withoutModules(config), data: dataset.hash, backend }).slice(0, 12),
      ...{ description: config.description, environment, config: { ...config } },
      dataset: summariseDataset(task, measurement.queries, arms),
      queries: measurement.queries.map((query) => buildQueryRecord(dataset, query)),
      unanswerable: measurement.unanswerable.map((query) => buildQueryRecord(dataset, query)),
      ...{ arms, fit, users: users?.result, remarks: describeTraining(config, clusters.length, fit) },
    };
    const result = { ...buildRankedResult(facts, measurement, selectMeasuring(config, BASELINE)), fit };
    return attachDisplay(
      {
        result,
        weights: new Map([[fit.file, { model, values, provenance }]]),
        users: users === null ? null : { provenance, users: users.users },
        runs: new Map([...trained.runs, ...prefixUserRuns(users?.runs)]),
        ...{ qrels: selectQrels(dataset, task.queries), corpus: dataset.corpus },
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
