import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Run } from '../../model/run.ts';
import { copySignalColumn } from '../../rank/learning/feature-table.ts';
import { buildOuterFolds, fitFold, METHODS } from './fitted-methods.ts';
import { HeldOutRows } from './held-out-rows.ts';
import { LearningTask } from './learning-task.ts';
import { DEPTH, measureMethods } from './measured-methods.ts';
import { measureImportance, measureNullControls, type Validated } from './refits.ts';
import { runOfScores } from './scored-runs.ts';
import { writeSampleTraining } from './training-config.fixture.ts';
import { loadTrainingConfig } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-refits-'));
const path = writeSampleTraining(root);
const tasks: LearningTask[] = [];
beforeAll(() => useBackend('cpu'));
afterAll(() => {
  for (const task of tasks) task.dispose();
  rmSync(root, { recursive: true });
});

/** A mix of these signals, with what its folds chose and how it ranks held out rows. */
const learnLinear = (model: string) => learnModel(`{name: linear, ${model}}`);

async function learnModel(model: string) {
  const candidates = 'candidates=[{index: newest, k: 31}]'; // the same in every fold
  const config = loadTrainingConfig(path, [`model=${model}`, candidates]);
  const { model: options } = config;
  const task = await LearningTask.open(config, 'dev', { cacheFolder: join(root, 'cache') });
  tasks.push(task);
  const rows = await HeldOutRows.of(task, buildOuterFolds(config, task.features));
  const outcomes: Awaited<ReturnType<typeof fitFold>>[] = [];
  for (const fold of rows.folds) outcomes.push(await fitFold(config, options, task.features, fold));
  const joinMethodScores = (method: (typeof METHODS)[number]) =>
    rows.joinFoldScores(
      outcomes.map(({ scores }) => {
        const size = scores.length / METHODS.length;
        return scores.subarray(METHODS.indexOf(method) * size, (METHODS.indexOf(method) + 1) * size);
      }),
    );
  const run = rows.rankAllRows(joinMethodScores('learned'));
  const validated: Validated = { rows, outcomes, learned: run, handTuned: joinMethodScores('hand-tuned') };
  return { job: { task, config, options }, validated };
}

function runOfSignal(signal: string, { dataset, table, pool }: LearningTask): Run {
  return runOfScores(dataset.corpus, table, pool, copySignalColumn(table, signal), DEPTH);
}

test('a family whose weights may not be negative is left out as others are: what is left ranks by the other signal', async () => {
  const { job, validated } = await learnLinear(
    'signals: [bm25@share, decay.24h], nonNegative: [bm25@share, decay.24h], initial: { bm25@share: 1 }',
  );
  const found = await measureImportance(job, validated);
  expect(found.map(({ family }) => family)).toEqual(['bm25', 'decay.Nh']);
  // Without the family, one signal is left: its order is the signal's own, whatever its positive weight.
  const { task, config } = job;
  const alone = runOfSignal('decay.24h', job.task);
  const { arms } = await measureMethods(
    task,
    config,
    new Map([
      ['learned', validated.learned],
      ['alone', alone],
    ]),
    'learned',
  );
  for (const metric of config.evaluation.metrics)
    expect(found[0]?.comparisons[metric]?.difference.mean).toBeCloseTo(
      arms[1]?.comparisons?.[metric]?.difference.mean as number,
      10,
    );
});

test('a family that is the whole model is not asked about, and one part alone is its own sum', async () => {
  const { job, validated } = await learnLinear('signals: [decay.6h, decay.24h], initial: { decay.24h: 1 }');
  expect(await measureImportance(job, validated)).toEqual([]);
  const controls = await measureNullControls(job, validated);
  expect(controls.map(({ part, signals }) => [part, signals])).toEqual([['time', ['decay.6h', 'decay.24h']]]);
  // All that this mix knows is given to others.
  expect(controls[0]?.comparisons['mrr@10']?.difference.mean).not.toBe(0);
});

test('the hand-tuned numbers are measured under each exchange too: what they read changes them', async () => {
  const { job, validated } = await learnLinear(
    'signals: [bm25@share, decay.6h, decay.24h], initial: { bm25@share: 1, decay.24h: 2 }',
  );
  const [time] = await measureNullControls(job, validated);
  expect(time?.baseline.isUnchanged).toBe(false);
  expect(time?.baseline.comparisons['mrr@10']?.difference.mean).not.toBe(0);
});

test('the trajectory model has null controls', async () => {
  const { job, validated } = await learnModel('{ name: trajectory, dimensions: 3 }');
  const controls = await measureNullControls(job, validated);
  expect(controls.map(({ part }) => part)).toContain('attention');
  // By hand, neither neighbours nor sessions count: to exchange them leaves it as it is.
  expect(controls.filter(({ baseline }) => baseline.isUnchanged).map(({ part }) => part)).toEqual(['neighbours']);
});
