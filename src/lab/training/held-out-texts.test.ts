import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { fitPoint, fitWithSelection, type SelectionPlan } from '../../rank/learning/cross-validation.ts';
import { createFixedSource, type FeatureSource, type FeatureTable } from '../../rank/learning/feature-table.ts';
import { drawBalancedFolds, type Fold } from '../../rank/learning/folds.ts';
import { resolveConfig } from '../config/config.ts';
import { buildConversationsConfig, writeConversations } from './conversations.fixture.ts';
import { buildOuterFolds, buildSelectionPlan, fitFold } from './fitted-methods.ts';
import { LearningTask } from './learning-task.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-held-out-'));
const tasks: LearningTask[] = [];
beforeAll(() => useBackend('cpu'));
afterAll(() => {
  for (const task of tasks) task.dispose();
  rmSync(root, { recursive: true });
});

/** The task of a config on conversations of which some have other texts. */
async function openTaskWith(config: TrainingConfig, replaced: readonly string[]): Promise<LearningTask> {
  const path = join(root, `${tasks.length}.json`);
  writeConversations(path, replaced);
  const own = { ...config, dataset: { ...config.dataset, path } } as TrainingConfig;
  const task = await LearningTask.open(own, { cacheFolder: join(root, 'cache') });
  tasks.push(task);
  return task;
}

type Outcome = Awaited<ReturnType<typeof fitFold>>;
const omitScores = ({ scores: _, ...learned }: Outcome) => learned;

/** The rows that each training of a fit was given, inner folds first. */
async function recordTrainingRows(source: FeatureSource, fold: Fold, plan: SelectionPlan): Promise<FeatureTable[]> {
  const given: FeatureTable[] = [];
  const recordModelRows = (rows: FeatureTable) => {
    given.push(rows);
    return plan.modelOf(rows);
  };
  await fitWithSelection(source, fold, { ...plan, modelOf: recordModelRows });
  return given;
}

const newest = { newest: { k: 50 } };
const flat = { newest: null, flat: { k: 5 } };
/** From the oldest turns on, so that every training learns. */
const linear = { name: 'linear', initial: { age: 1 } };
const trajectory = { name: 'trajectory', dimensions: 5 };

describe.each([
  ['a linear mix', linear, newest],
  ['the trajectory model', trajectory, newest],
  ['a linear mix of candidates that a fitted encoder finds', linear, flat],
])('%s', (_, model, search) => {
  const set = { 'mix.fit.model': model, search };
  const config = readTraining(resolveConfig(buildConversationsConfig('nowhere', set), 'test'));
  let clean: LearningTask;
  let outer: Fold;
  beforeAll(async () => {
    clean = await openTaskWith(config, []);
    [outer] = buildOuterFolds(config, clean.features) as [Fold];
  });

  test('learns the same weights whatever the held out conversations and their questions say', async () => {
    const other = await openTaskWith(config, outer.clusters);
    const [before, after] = [clean, other].map(({ features }) => fitFold(config, features, outer)) as [
      Promise<Outcome>,
      Promise<Outcome>,
    ];
    expect(omitScores(await after)).toEqual(omitScores(await before));
    expect((await before).epochs).toBeGreaterThan(0);
    expect((await after).scores).not.toEqual((await before).scores);
  });

  test('chooses by inner folds that fit nothing on what they hold out', async () => {
    const clusters = Array.from(outer.training, (row) => clean.features.clusters[row] as string);
    const plan = buildSelectionPlan(config);
    const [inner] = drawBalancedFolds({ clusters }, plan.innerFolds, plan.seeds[0] as number) as [Fold];
    const other = await openTaskWith(config, inner.clusters);
    const before = await recordTrainingRows(clean.features, outer, plan);
    const after = await recordTrainingRows(other.features, outer, plan);
    expect(before).toHaveLength(plan.innerFolds + 1);
    expect(after[0]).toEqual(before[0]);
    const fitWeights = async (rows: FeatureTable) => (await fitPoint(rows, plan.points[0]!, plan)).values;
    expect(await fitWeights(after[0]!)).toEqual(await fitWeights(before[0]!));
    expect(after.at(-1)?.values).not.toEqual(before.at(-1)?.values);
  });

  test('would learn other weights from encoders that are fitted on all conversations', async () => {
    const other = await openTaskWith(config, outer.clusters);
    const [before, after] = [clean, other].map(({ table }) => fitFold(config, createFixedSource(table), outer));
    expect((await after)?.values).not.toEqual((await before)?.values);
  });
});
