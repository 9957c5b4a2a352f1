import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Run } from '../../model/run.ts';
import { copySignalColumn } from '../../rank/learning/feature-table.ts';
import type { FitOptions, ModelOptions } from '../../rank/learning/fit-options.ts';
import { listTrajectorySignals } from '../../rank/learning/model.ts';
import { listSignalNames, signalBankOptions } from '../../rank/signals/bank/options.ts';
import { loadConfig } from '../config/config.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import { buildOuterFolds, fitFold, measureMethods } from './fitted-methods.ts';
import { HeldOutRows, runOfScores } from './held-out-contributions.ts';
import { LearningTask } from './learning-task.ts';
import {
  groupSignalFamilies,
  groupSignalParts,
  listExchangedParts,
  measureImportance,
  measureNullControls,
  type Validated,
} from './refits.ts';
import { setFit, writeSampleTraining } from './training-config.fixture.ts';
import { readTraining } from './training-config.ts';

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
  const newest = 'search={bm25: null, flat: null, newest: {k: 31}}'; // the same in every fold
  const config = readTraining(loadConfig(path, setFit(`mix.fit.model=${model}`, newest)));
  const task = await LearningTask.open(config, { cacheFolder: join(root, 'cache') });
  tasks.push(task);
  const rows = await HeldOutRows.of(task, buildOuterFolds(config, task.features), 100);
  const outcomes: Awaited<ReturnType<typeof fitFold>>[] = [];
  for (const fold of rows.folds) outcomes.push(await fitFold(config, task.features, fold));
  const joinMethodScores = (method: (typeof FIT_METHODS)[number]) =>
    rows.joinFoldScores(
      outcomes.map(({ scores }) => {
        const size = scores.length / FIT_METHODS.length;
        return scores.subarray(FIT_METHODS.indexOf(method) * size, (FIT_METHODS.indexOf(method) + 1) * size);
      }),
    );
  const run = rows.rankAllRows(joinMethodScores('learned'));
  const validated: Validated = { rows, outcomes, learned: run, handTuned: joinMethodScores('hand-tuned') };
  return { job: { task, config }, validated };
}

function runOfSignal(signal: string, { dataset, table, pool }: LearningTask): Run {
  return runOfScores(dataset.corpus, table, pool, copySignalColumn(table, signal), 100);
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

test('a score with all that is spread of it is one family, a signal by itself another', () => {
  const families = groupSignalFamilies(['bm25', 'bm25@previous', 'bm25@session-mean', 'age', 'bm25-window']);
  expect([...families]).toEqual([
    ['bm25', ['bm25', 'bm25@previous', 'bm25@session-mean']],
    ['age', ['age']],
    ['bm25-window', ['bm25-window']],
  ]);
});

test('signals that differ in a number alone are one family', () => {
  const families = groupSignalFamilies(['decay.6h', 'decay.24h', 'rank-2', 'rank-13@next', 'f1', 'decay.24h*rank-2']);
  expect([...families]).toEqual([
    ['decay.Nh', ['decay.6h', 'decay.24h', 'decay.24h*rank-2']],
    ['rank-N', ['rank-2', 'rank-13@next', 'decay.24h*rank-2']],
    ['f1', ['f1']],
  ]);
});

test('a product goes with each of its factors, once with a square', () => {
  const families = groupSignalFamilies(['bm25@share', 'age', 'bm25@share*age', 'age*age']);
  expect([...families]).toEqual([
    ['bm25', ['bm25@share', 'bm25@share*age']],
    ['age', ['age', 'bm25@share*age', 'age*age']],
  ]);
});

const signals = signalBankOptions.parse({ groups: ['text', 'time'] });
const table = [...listSignalNames(signals), ...listTrajectorySignals(5)];
const listParts = (model: ModelOptions) => listExchangedParts({ signals, fit: { model } as FitOptions }, table);
const linear = { name: 'linear' as const, nonNegative: [], initial: null };

test('a mix has the parts of the bank that it reads, and all of them together', () => {
  const read = ['bm25', 'bm25@next', 'age', 'decay.24h'];
  expect([...listParts({ ...linear, signals: read })]).toEqual([
    ['neighbours', ['bm25@next']],
    ['time', ['age', 'decay.24h']],
    ['all of these', ['bm25@next', 'age', 'decay.24h']],
  ]);
  expect([...listParts({ ...linear, signals: ['bm25', 'age'] }).keys()]).toEqual(['time']);
  expect(listParts({ ...linear, signals: null }).get('neighbours')).toEqual(
    groupSignalParts(signals).get('neighbours'),
  );
});

test('the trajectory model has parts of its own, which leave a candidate its relevance', () => {
  const parts = listParts({ name: 'trajectory', dimensions: 5 });
  expect([...parts.keys()]).toEqual([
    ...['neighbours', 'time', 'coordinates'],
    ...['attention: likeness', 'attention: order', 'attention', 'all of these'],
  ]);
  expect(parts.get('coordinates')).toHaveLength(5 + 1);
  expect(parts.get('attention')).toEqual([
    ...(parts.get('attention: likeness') ?? []),
    ...(parts.get('attention: order') ?? []),
  ]);
  const left = listTrajectorySignals(5).filter((signal) => !parts.get('all of these')?.includes(signal));
  expect(left).toEqual(['relevance']);
});
