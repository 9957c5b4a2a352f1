import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { groupIntoClusters } from '../../eval/intervals/clusters.ts';
import { type Estimate, meanIntervals } from '../../eval/intervals/mean-intervals.ts';
import { fitPoint, type HyperParameters } from '../../rank/learning/cross-validation.ts';
import type { ScoringModel } from '../../rank/learning/model.ts';
import { createTableMetric } from '../../rank/learning/table-metrics.ts';
import { scoreTable } from '../../rank/learning/table-scorer.ts';
import { withPoolSteps } from '../config/fitted-arm.ts';
import type { TransferResult } from '../measure/fit-result.ts';
import { buildSelectionPlan } from './fitted-methods.ts';
import { LearningTask, type TaskContext } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

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

/** Uses a task on dev conversations and disposes it. @param encoders the task whose training conversations encoders are fitted on; absent for the task's own */
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

/** The weights trained here on another dataset's dev conversations, and weights trained there on these; each with the encoders that they were trained with. */
export async function transferWeights(
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
