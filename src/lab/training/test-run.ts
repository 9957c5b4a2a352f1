import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Run } from '../../model/run.ts';
import { listHandTunedValues, listUniformValues } from '../../rank/learning/parameters.ts';
import { scoreTable } from '../../rank/learning/table-scorer.ts';
import { assertFits, type Weights } from '../../rank/learning/weight-file.ts';
import { describeTestSplit, type TestSplit } from '../looks/test-split.ts';
import { groupContentHashes } from '../measure/cluster-conversations.ts';
import { buildQueryRecord } from '../measure/inspection.ts';
import { buildRankedArms, buildRankedResult } from '../measure/ranked-result.ts';
import type { ExperimentResult } from '../measure/result.ts';
import { captureEnvironment } from '../run/environment.ts';
import { LearningTask, locateDatasets, selectTaskQueries, type TaskContext } from './learning-task.ts';
import { BASELINE, DEPTH, describeMethod, measureMethods, selectMeasuring } from './measured-methods.ts';
import { runOfScores } from './scored-runs.ts';
import { listFeatures, type WeightsSplit } from './test-looks.ts';
import type { TrainingConfig } from './training-config.ts';
import type { TrainingContext } from './training-run.ts';

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
 * @param file the name of the weights.
 * @throws ValidationError for a dataset without a test query, and for weights of other data, signals or with a test conversation among those that they were trained on.
 */
export async function runTest(
  config: TrainingConfig,
  file: string,
  weights: Weights,
  context: TrainingContext,
): Promise<ExperimentResult> {
  const task = await LearningTask.open(config, 'test', context);
  try {
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
    const { name, declaration, relevantGrade, gradeNames, hash, facts } = dataset;
    const arms = Array.from(runs.keys(), (method) => ({ name: method, description: describeMethod(method) }));
    const { backend, command } = context;
    const described = {
      ...{ name: config.name, hash: computeHash([config, file, [...values], hash]).slice(0, 12) },
      ...{ description: config.description, config: { ...config } },
      environment: captureEnvironment(backend, config.seed, command, config.dataset, config.plugins),
      dataset: { name, ...declaration, relevantGrade, gradeNames, hash, split: 'test', facts, turns: [] },
      queries: measurement.queries.map((query) => buildQueryRecord(dataset, query)),
      unanswerable: measurement.unanswerable.map((query) => buildQueryRecord(dataset, query)),
      arms: buildRankedArms(arms, measurement),
    };
    return buildRankedResult(described, measurement, selectMeasuring(config, BASELINE));
  } finally {
    task.dispose();
  }
}
