import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Run } from '../../model/run.ts';
import { listHandTunedValues, listUniformValues } from '../../rank/learning/parameters.ts';
import { scoreTable } from '../../rank/learning/table-scorer.ts';
import { assertFits, type Weights } from '../../rank/learning/weight-file.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import { describeTestSplit, type TestSplit } from '../looks/test-split.ts';
import { groupContentHashes } from '../measure/cluster-conversations.ts';
import { buildQueryRecord } from '../measure/inspection.ts';
import { buildRankedArms, buildRankedResult } from '../measure/ranked-result.ts';
import type { ExperimentResult } from '../measure/result.ts';
import { captureEnvironment } from '../run/environment.ts';
import type { OpenRunContext } from '../run/run.ts';
import { selectEvaluatedQueries } from '../run/workspaces.ts';
import { runOfScores } from './held-out-rows.ts';
import { LearningTask, loadTaskDataset, type TaskContext } from './learning-task.ts';
import { BASELINE, describeMethod, measureMethods, selectMeasuring } from './measured-methods.ts';
import { listFeatures, type WeightsSplit } from './test-looks.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';

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

/** The training of a config with the test split in place of dev. */
function readTest(config: ExperimentConfig): TrainingConfig {
  return readTraining({ ...config, evaluation: { ...config.evaluation, split: 'test' } });
}

/**
 * The test split and features that a test of a config's weights uses; embeds and measures nothing.
 *
 * @throws ValidationError for a dataset without a test query.
 */
export async function testSplit(experiment: ExperimentConfig, context: TaskContext): Promise<WeightsSplit> {
  const config = readTest(experiment);
  const dataset = await loadTaskDataset(config, context);
  const split = describeTestSplit(dataset, selectEvaluatedQueries(dataset, config)) as TestSplit; // of test queries alone
  return { ...split, features: listFeatures(config) };
}

/**
 * Measures weights on the test conversations of the data that they were trained on, with hand-tuned and uniform weights for comparison.
 *
 * @param file the name of the weights.
 * @throws ValidationError for a dataset without a test query, and for weights of other data, signals or with a test conversation among those that they were trained on.
 */
export async function runTest(
  experiment: ExperimentConfig,
  file: string,
  weights: Weights,
  context: OpenRunContext,
): Promise<ExperimentResult> {
  const config = readTest(experiment);
  const task = await LearningTask.open(config, context);
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
    const { depth } = config.evaluation;
    for (const [method, own] of Object.entries(numbers))
      runs.set(method, runOfScores(dataset.corpus, table, pool, await scoreTable(model, own, table), depth));
    const measurement = await measureMethods(task, config, runs);
    const { name, declaration, relevantGrade, gradeNames, hash, facts } = dataset;
    const arms = Array.from(runs.keys(), (method) => ({ name: method, description: describeMethod(method) }));
    const { backend, command } = context;
    const described = {
      ...{ name: config.name, hash: computeHash([experiment, file, [...values], hash]).slice(0, 12) },
      ...{ description: config.description, config: { ...experiment } },
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
