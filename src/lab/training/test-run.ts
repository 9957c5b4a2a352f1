import { basename, dirname, resolve } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { isOwnField, listFilterFields, type OwnField } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { Run } from '../../model/run.ts';
import { scoreTable } from '../../rank/learning/model.ts';
import { listHandTunedValues, listUniformValues } from '../../rank/learning/parameters.ts';
import { assertFits, type Weights } from '../../rank/learning/weight-file.ts';
import { SIGNAL_GROUPS, type SignalGroup } from '../../rank/signals/bank/options.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import { buildRankedArms, buildRankedResult, describeMeasured, listInspectedTurns } from '../measure/attribution.ts';
import {
  describeTestSplit,
  groupContentHashes,
  isSameSplit,
  type TestLook,
  type TestSplit,
} from '../measure/passport.ts';
import { type ExperimentResult, formatLook, type NumberedLook } from '../measure/result.ts';
import { listLooks } from '../measure/test-looks.ts';
import { captureEnvironment } from '../run/environment.ts';
import { listFilterTexts } from '../run/needed-data.ts';
import type { OpenRunContext } from '../run/run.ts';
import { selectEvaluatedQueries } from '../run/workspaces.ts';
import { BASELINE, describeMethod, measureMethods, selectMeasuring } from './fitted-methods.ts';
import { countMixed, countPoolSteps, describeFittedSteps } from './fitted-steps.ts';
import { runOfScores } from './held-out-contributions.ts';
import { LearningTask, loadTaskDataset, type TaskContext } from './learning-task.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';

/** A test split, and the features that the signals of weights may use on it. */
export interface WeightsSplit extends TestSplit {
  readonly features: string[];
}

/** The feature that each field of a turn counts as, where a filter reads it; any other field is an attribute. */
const FIELD_GROUPS: Readonly<Record<OwnField, SignalGroup>> = {
  id: 'text',
  conversationId: 'thread',
  parentId: 'thread',
  timestamp: 'time',
  author: 'author',
  channel: 'channel',
};

function listFilterGroups({ arm }: TrainingConfig): SignalGroup[] {
  const fields = listFilterTexts(arm).flatMap((text) => listFilterFields(parseFilter(text)));
  return fields.map((field) => (isOwnField(field) ? FIELD_GROUPS[field] : 'attributes'));
}

/** The features that signals may use by a config. */
export function listFeatures(config: TrainingConfig): string[] {
  const groups = new Set([...config.signals.groups, ...listFilterGroups(config)]);
  return SIGNAL_GROUPS.filter((group) => groups.has(group));
}

/** The look of a training's weights. */
export function describeWeightsLook(
  trainingFolder: string,
  split: WeightsSplit,
  made: Pick<TestLook, 'commit' | 'backend' | 'command'>,
): TestLook {
  return { ...split, ...made, run: basename(resolve(trainingFolder)) };
}

/** Every known look at a test split by weights with its features. */
export function listWeightsLooks(trainingFolder: string, split: WeightsSplit): TestLook[] {
  return listLooks(dirname(resolve(trainingFolder))).filter(
    (look) => isSameSplit(look, split) && look.features?.join() === split.features.join(),
  );
}

function formatTimes(count: number): string {
  return count === 1 ? '1 time' : `${count} times`;
}

/** @throws ValidationError for a second look at the test split without --again. */
export function assertFirstLook(
  looks: readonly TestLook[],
  { dataset, features }: WeightsSplit,
  isAgain: boolean,
): void {
  const [first] = looks;
  if (first === undefined || isAgain) return;
  throw new ValidationError(
    `test split of ${dataset} was looked at before with the features ${features.join(', ')} (${formatTimes(looks.length)}, first by ${first.run} at commit ${first.commit}); add --again to look once more; the table lists every look`,
    { dataset, looks: looks.length },
  );
}

/** The place of the look among all, then the looks with the same features. */
export function lookLines(numbered: NumberedLook, looks: readonly TestLook[]): string[] {
  const features = looks[0]?.features ?? [];
  const count = `${formatLook(numbered)} By weights with the features ${features.join(', ')}, ${formatTimes(looks.length)}:`;
  const lines = looks.map(({ run, commit, command, note }, i) => {
    const why = note === undefined ? '' : ` (${note})`;
    return `${i + 1}. ${run}, commit ${commit}${why}: ${command}`;
  });
  return [count, ...lines];
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
    const rankBy = (scores: Float32Array) => runOfScores(dataset.corpus, table, pool, scores, depth);
    for (const [method, own] of Object.entries(numbers)) runs.set(method, rankBy(await scoreTable(model, own, table)));
    const tied = rankBy(new Float32Array(table.mask.length));
    const mixed = Object.entries(numbers).map(([method, own]) => ({
      ...{ method, mixed: countMixed(runs.get(method) as Run, tied), values: own },
    }));
    const steps = describeFittedSteps(task, config, model, await countPoolSteps(task, config), mixed);
    const measurement = await measureMethods(task, config, runs);
    const arms = Array.from(steps, ([name, own]) => ({ name, description: describeMethod(name), steps: own }));
    const { backend, command } = context;
    const described = {
      ...{ name: config.name, hash: computeHash([experiment, file, [...values], dataset.hash]).slice(0, 12) },
      ...{ description: config.description, config: { ...experiment } },
      environment: captureEnvironment(backend, config.seed, command, config.dataset, config.plugins),
      ...describeMeasured(dataset, measurement, 'test', listInspectedTurns(dataset, measurement.queries, [])),
      arms: buildRankedArms(arms, measurement),
    };
    return buildRankedResult(described, measurement, selectMeasuring(config, BASELINE));
  } finally {
    task.dispose();
  }
}
