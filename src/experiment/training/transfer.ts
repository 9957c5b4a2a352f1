import { type StartProgress, silent } from '../../core/progress.ts';
import { bootstrapIntervals, type Interval } from '../../evaluation/bootstrap-interval.ts';
import { clusterBy } from '../../evaluation/clusters.ts';
import { fitPoint, type HyperParameters } from '../../learning/cross-validation.ts';
import type { ScoringModel } from '../../learning/model.ts';
import { tableMetric } from '../../learning/table-metrics.ts';
import { scoreTable } from '../../learning/table-scorer.ts';
import { selectionPlan } from './fitted-methods.ts';
import { LearningTask, type TaskContext } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';
import type { TransferResult } from './training-result.ts';

/** Weights that were trained on a task, and what they were trained with. */
export interface TransferredModel {
  readonly task: LearningTask;
  readonly config: TrainingConfig;
  readonly options: TrainingConfig['models'][number];
  readonly model: ScoringModel;
  readonly values: Float64Array;
  /** The chosen point, with the number of epochs. */
  readonly point: HyperParameters;
}

/** Means with their intervals over the queries that have a relevant turn. @param scores row-major [Q, C] */
function metricsOf(
  { table }: LearningTask,
  { evaluation, seed }: TrainingConfig,
  scores: Float32Array,
): Record<string, Interval> {
  const { metrics, samples, level } = evaluation;
  const clusters = clusterBy(table.clusters);
  const columns = metrics.map((id) => tableMetric(table, id).values(scores));
  const intervals = bootstrapIntervals(columns, clusters, { samples, level, seed });
  return Object.fromEntries(metrics.map((id, m) => [id, intervals[m] as Interval]));
}

/** The weights trained here on another dataset's dev conversations, and weights trained there on these. */
export async function transfer(
  trained: TransferredModel,
  other: TrainingConfig['transfer'][number],
  context: TaskContext,
): Promise<TransferResult[]> {
  const { task, config, options, model, values, point } = trained;
  const progress: StartProgress = context.progress ?? silent;
  const { name, dataset, candidates = config.candidates, sameChannel = config.sameChannel, limitQueries } = other;
  const there = await LearningTask.open({ ...config, dataset, candidates, sameChannel, limitQueries }, 'dev', context);
  try {
    const shown = progress(`transfer to and from ${name}`, 2);
    const back = await fitPoint(there.table, point, selectionPlan(config, options));
    shown.update(1);
    const home = config.name;
    const results = [
      { trainedOn: home, testedOn: name, task: there, scores: await scoreTable(model, values, there.table) },
      { trainedOn: name, testedOn: home, task, scores: await scoreTable(back.model, back.values, task.table) },
    ];
    shown.finish();
    return results.map(({ trainedOn, testedOn, task: tested, scores }) => ({
      model: options.name,
      trainedOn,
      testedOn,
      queries: tested.queries.length,
      metrics: metricsOf(tested, config, scores),
    }));
  } finally {
    there.dispose();
  }
}
