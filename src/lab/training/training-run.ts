import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Qrels, Run } from '../../model/run.ts';
import type { UserWeights } from '../../rank/learning/user-weights-file.ts';
import type { Weights } from '../../rank/learning/weight-file.ts';
import { groupContentHashes } from '../measure/cluster-conversations.ts';
import { selectQrels } from '../measure/measurement.ts';
import type { DatasetSummary } from '../measure/result.ts';
import { captureEnvironment } from '../run/environment.ts';
import { inspectModels } from './inspection.ts';
import { LearningTask, type TaskContext } from './learning-task.ts';
import { trainModel } from './model-run.ts';
import type { TrainingConfig } from './training-config.ts';
import { displayFinishedTraining } from './training-display.ts';
import type { ModelResult, TrainingResult, TransferResult } from './training-result.ts';
import { transferWeights } from './transfer.ts';
import { trainUserWeights } from './user-weights.ts';

/** Where a training is executed: the cache folder (by default none), the backend and the command line that its result stores, and its progress report (by default none). */
export interface TrainingContext extends TaskContext {
  readonly backend: string;
  readonly command: string;
}

/** The outcome of a training. */
export interface FinishedTraining {
  readonly result: TrainingResult;
  /** By the names of their files. */
  readonly weights: ReadonlyMap<string, Weights>;
  /** The weights of users, if the config asks for them. */
  readonly users: UserWeights | null;
  /** Rankings of conversations by weights that have not seen them, by model and method. */
  readonly runs: ReadonlyMap<string, Run>;
  readonly qrels: Qrels;
}

function summariseDataset({ dataset }: LearningTask): DatasetSummary {
  const { name, declaration, relevantGrade, gradeNames, hash, facts } = dataset;
  return { name, ...declaration, relevantGrade, gradeNames, hash, split: 'dev', facts, turns: [] };
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

/** Trains the models of a config on the dev conversations of its dataset; the test split is not looked at. */
export async function runTraining(config: TrainingConfig, context: TrainingContext): Promise<FinishedTraining> {
  const task = await LearningTask.open(config, 'dev', context);
  try {
    const models: ModelResult[] = [];
    const inspected: Parameters<typeof inspectModels>[1][number][] = [];
    const transferred: TransferResult[] = [];
    const weights = new Map<string, Weights>();
    const runs = new Map<string, Run>();
    const environment = captureEnvironment(
      context.backend,
      config.seed,
      context.command,
      config.dataset,
      config.plugins,
    );
    const clusters = [...new Set(task.table.clusters)];
    let strata: TrainingResult['strata'] = [];
    const provenance = {
      config: { ...config },
      dataHash: task.dataset.hash,
      seeds: Array.from({ length: config.fitting.seeds }, (_, i) => config.seed + i),
      commit: environment.commit,
      backend: context.backend,
      trainingClusters: clusters,
      trainingContents: listContentHashes(task.dataset, clusters),
    };
    const users = config.users === undefined ? null : await trainUserWeights(task, config, context.progress);
    for (const [method, run] of users?.runs ?? []) runs.set(`users, ${method}`, run);
    for (const options of config.models) {
      const trained = await trainModel({ task, config, options, progress: context.progress ?? ignoreProgress });
      models.push(trained.result);
      inspected.push(trained);
      ({ strata } = trained.measurement);
      for (const [method, run] of trained.runs) runs.set(`${options.name}, ${method}`, run);
      for (const other of config.transfer)
        transferred.push(...(await transferWeights({ ...trained, task, config, options }, other, context)));
      weights.set(trained.result.file, { model: trained.model, values: trained.values, provenance });
    }
    const result: TrainingResult = {
      name: config.name,
      hash: computeHash({ config: withoutModules(config), data: task.dataset.hash, backend: context.backend }).slice(
        0,
        12,
      ),
      description: config.description,
      environment,
      config: { ...config },
      dataset: summariseDataset(task),
      metrics: config.evaluation.metrics,
      level: config.evaluation.level,
      queries: task.queries.length,
      conversations: clusters.length,
      signals: task.table.signals,
      poolRecall: computePoolRecall(task),
      strata,
      models,
      users: users?.result,
      transfer: transferred,
      inspection: inspectModels(task, inspected),
    };
    return displayFinishedTraining({
      result,
      weights,
      users: users === null ? null : { provenance, users: users.users },
      runs,
      qrels: selectQrels(task.dataset, task.queries),
    });
  } finally {
    task.dispose();
  }
}
