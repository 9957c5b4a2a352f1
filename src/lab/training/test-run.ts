import { ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Run } from '../../model/run.ts';
import { listHandTunedValues, listUniformValues } from '../../rank/learning/parameters.ts';
import { scoreTable } from '../../rank/learning/table-scorer.ts';
import { assertFits, type Weights } from '../../rank/learning/weight-file.ts';
import { describeTestSplit, type TestSplit } from '../looks/test-split.ts';
import { groupContentHashes } from '../measure/cluster-conversations.ts';
import { LearningTask, locateDatasets, selectTaskQueries, type TaskContext } from './learning-task.ts';
import { BASELINE, countMeasured, DEPTH, listMethodResults, measureMethods } from './measured-methods.ts';
import { runOfScores } from './scored-runs.ts';
import { listFeatures, type WeightsSplit } from './test-looks.ts';
import type { TrainingConfig } from './training-config.ts';
import type { MethodResult } from './training-result.ts';

/** A weight file on the test split. */
export interface TestedModel {
  readonly name: string;
  readonly file: string;
  readonly baseline: string;
  readonly measured: { readonly queries: number; readonly conversations: number };
  readonly methods: readonly MethodResult[];
}

/** The figures of a training's weights on the test split; plain data. */
export interface TestResult {
  readonly experiment: string;
  readonly dataset: { readonly name: string; readonly hash: string; readonly split: 'test' };
  readonly metrics: readonly string[];
  readonly level: number;
  readonly queries: number;
  readonly models: readonly TestedModel[];
}

/** @throws ValidationError for weights of other data, or that had seen a test conversation. */
function assertUnseen(file: string, { provenance }: Weights, { dataset, table }: LearningTask): void {
  if (provenance.dataHash !== dataset.hash)
    throw new ValidationError(
      `weights ${file} were trained on other data than dataset ${dataset.name}; train them on it`,
      { file },
    );
  const contents = groupContentHashes(dataset);
  const trained = new Set(provenance.trainingContents);
  const seen = table.clusters.find(
    (cluster) =>
      provenance.trainingClusters.includes(cluster) || contents.get(cluster)?.some((hash) => trained.has(hash)),
  );
  if (seen !== undefined)
    throw new ValidationError(
      `weights ${file} were trained on a conversation of the test split: ${seen}; train them without it`,
      { file },
    );
}

async function testModel(
  task: LearningTask,
  config: TrainingConfig,
  file: string,
  weights: Weights,
): Promise<TestedModel> {
  const { table, dataset, pool } = task;
  assertUnseen(file, weights, task);
  assertFits(weights, table.signals);
  const { model, values } = weights;
  const numbers = {
    [BASELINE]: listHandTunedValues(model),
    uniform: listUniformValues(model),
    learned: values,
  };
  const runs = new Map<string, Run>();
  const { depth = DEPTH } = config.evaluation;
  for (const [method, own] of Object.entries(numbers))
    runs.set(method, runOfScores(dataset.corpus, table, pool, await scoreTable(model, own, table), depth));
  const measurement = await measureMethods(task, config, runs);
  return {
    name: model.name,
    file,
    baseline: BASELINE,
    measured: countMeasured(measurement),
    methods: listMethodResults(runs.keys(), measurement),
  };
}

/**
 * The test split and features that a test of a config's weights uses; embeds and measures nothing.
 *
 * @throws ValidationError for a dataset without a test query.
 */
export async function testSplit(
  config: TrainingConfig,
  { cacheFolder = null, progress = ignoreProgress }: TaskContext,
): Promise<WeightsSplit> {
  const dataset = await loadDataset(config.dataset, { cacheFolder: locateDatasets(cacheFolder), progress });
  const split = describeTestSplit(dataset, selectTaskQueries(dataset, 'test', config)) as TestSplit; // of test queries alone
  return { ...split, features: listFeatures(config) };
}

/**
 * Measures weights on the test conversations of the data that they were trained on, with hand-tuned and uniform weights for comparison.
 *
 * @param weights by the names of their files.
 * @throws ValidationError for a dataset without a test query, and for weights of other data, signals or with a test conversation among those that they were trained on.
 */
export async function runTest(
  config: TrainingConfig,
  weights: ReadonlyMap<string, Weights>,
  context: TaskContext,
): Promise<TestResult> {
  const task = await LearningTask.open(config, 'test', context);
  try {
    const models: TestedModel[] = [];
    for (const [file, one] of weights) models.push(await testModel(task, config, file, one));
    const { name, hash } = task.dataset;
    return {
      experiment: config.name,
      dataset: { name, hash, split: 'test' },
      metrics: config.evaluation.metrics,
      level: config.evaluation.level,
      queries: task.queries.length,
      models,
    };
  } finally {
    task.dispose();
  }
}
