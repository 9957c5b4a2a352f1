import { attachDisplay } from '../../core/display/display.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { formatDecimal } from '../../core/text/format.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import { readPoolParts } from '../config/fitted-arm.ts';
import { groupContentHashes } from '../measure/cluster-conversations.ts';
import type { FitResult, TransferResult } from '../measure/fit-result.ts';
import { describeMeasured, listInspectedTurns } from '../measure/inspection.ts';
import { selectQrels } from '../measure/measurement.ts';
import { buildRankedResult } from '../measure/ranked-result.ts';
import type { ExperimentResult } from '../measure/result.ts';
import { buildResultBundle } from '../measure/result-display.ts';
import { captureEnvironment } from '../run/environment.ts';
import type { FinishedRun, OpenRunContext } from '../run/run.ts';
import { runHash } from '../run/run-hash.ts';
import { LearningTask } from './learning-task.ts';
import { BASELINE, selectMeasuring } from './measured-methods.ts';
import { listMethodArms, trainModel } from './model-run.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';
import { transferWeights } from './transfer.ts';
import { trainUserWeights } from './user-weights.ts';

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

/** Fits the arm of a config on the dev conversations of its dataset; the test split is not looked at. */
export async function runTraining(experiment: ExperimentConfig, context: OpenRunContext): Promise<FinishedTraining> {
  const config = readTraining(experiment);
  const task = await LearningTask.open(config, context);
  const { progress = ignoreProgress, backend, command } = context;
  const { dataset, table } = task;
  const { fit: options } = config;
  try {
    const environment = captureEnvironment(backend, config.seed, command, config.dataset, config.plugins);
    const clusters = [...new Set(table.clusters)];
    const provenance = {
      config: { ...experiment, embedding: config.embedding, signals: config.signals },
      dataHash: dataset.hash,
      seeds: Array.from({ length: options.seeds }, (_, i) => config.seed + i),
      commit: environment.commit,
      backend,
      trainingClusters: clusters,
      trainingContents: listContentHashes(dataset, clusters),
    };
    const users = options.users === undefined ? null : await trainUserWeights(task, config, progress);
    const trained = await trainModel({ task, config, progress });
    const { measurement, model, values } = trained;
    const transfer: TransferResult[] = [];
    for (const other of options.transfer)
      transfer.push(...(await transferWeights({ ...trained, task, config }, other, context)));
    const fit: FitResult = {
      ...{ signals: table.signals, poolRecall: computePoolRecall(task) },
      ...{ validatedBy: options.metric, resamples: options.resamples },
      ...trained.fit,
      transfer,
    };
    const arms = listMethodArms(trained, config.evaluation.inspect);
    const rankings = arms.flatMap((arm) => arm.rankings);
    const turns = listInspectedTurns(dataset, measurement.queries, rankings);
    const facts = {
      name: config.name,
      hash: runHash(experiment, dataset.hash, backend),
      ...{ description: config.description, environment, config: { ...experiment } },
      ...describeMeasured(dataset, measurement, 'dev', turns),
      ...{ arms, fit, users: users?.result, remarks: describeTraining(config, clusters.length, fit) },
    };
    const result = { ...buildRankedResult(facts, measurement, selectMeasuring(config, BASELINE)), fit };
    return attachDisplay(
      {
        result,
        weights: new Map([[fit.file, { model, values, provenance }]]),
        users: users === null ? null : { provenance, users: users.users },
        runs: new Map([...trained.runs, ...prefixUserRuns(users?.runs)]),
        ...{ qrels: selectQrels(dataset, task.queries), corpus: dataset.corpus, config: experiment },
        ...{ records: [], sliceKeys: null, look: null },
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
