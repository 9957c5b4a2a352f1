import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { assertFeatureTable, copySignalColumn, type FeatureTable } from '../../rank/learning/feature-table.ts';
import { listModelSignals } from '../../rank/learning/model.ts';
import type { CandidatePool } from '../../rank/signals/stage.ts';
import { resolveConfig } from '../config/config.ts';
import { listUnheldConversations } from '../measure/passport.ts';
import { StageCache } from '../run/stage-cache.ts';
import { openWorkspace } from '../run/workspaces.ts';
import { buildConversationsConfig, writeConversations } from './conversations.fixture.ts';
import { buildOuterFolds } from './fitted-methods.ts';
import { buildFeatureTable, computeTaskSignals, findCandidatePool } from './fold-signals.ts';
import { LearningTask } from './learning-task.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-fold-signals-'));
const path = join(root, 'conversations.json');
const cacheFolder = join(root, 'cache');
beforeAll(async () => {
  await useBackend('cpu');
  writeConversations(path);
});
afterAll(() => rmSync(root, { recursive: true }));

const load = (set: object = {}) => readTraining(resolveConfig(buildConversationsConfig(path, { ...set }), 'test'));
const base = load();
const trajectory = load({ 'mix.fit.model': { name: 'trajectory' } });

async function withTask(config: TrainingConfig, use: (task: LearningTask) => Promise<void>): Promise<void> {
  const task = await LearningTask.open(config, { cacheFolder });
  try {
    await use(task);
  } finally {
    task.dispose();
  }
}

const countStagesNamed = (name: string) => readdirSync(join(cacheFolder, 'stages', name)).length;

test.each([
  ['a linear mix', base],
  ['the trajectory model', trajectory],
])(
  'the signals of %s are those of a whole bank by encoders that are fitted on the training conversations',
  async (_, config) => {
    await withTask(config, async ({ dataset, queries, features, table }) => {
      const [fold] = buildOuterFolds(config, features) as [ReturnType<typeof buildOuterFolds>[number]];
      const found = await features.gatherRowsFor(fold.training, fold.clusters);
      const store = new StageCache(join(root, 'another'));
      const source = { dataset, config, cacheFolder: join(root, 'another'), store, code: 'here' };
      const workspace = await openWorkspace(source, queries, listUnheldConversations(dataset, fold.clusters));
      const { signals, values } = await computeTaskSignals(
        workspace,
        await findCandidatePool(workspace, config),
        config,
      );
      workspace.dispose();
      const whole: FeatureTable = { ...table, signals, values };
      expect(found.signals).toEqual(
        table.signals.filter((name) => listModelSignals(config.fit.model, signals).includes(name)),
      );
      let others = 0;
      for (const name of found.signals) {
        const column = copySignalColumn(whole, name);
        const rows = Array.from(fold.training, (row) => [
          ...column.subarray(row * table.width, (row + 1) * table.width),
        ]);
        expect([...copySignalColumn(found, name)], name).toEqual(rows.flat());
        others += copySignalColumn(table, name).some((value, i) => value !== column[i]) ? 1 : 0;
      }
      expect(others).toBeGreaterThan(7);
    });
  },
);

test('a fit is a stage of the cache: who comes later fits nothing', async () => {
  await withTask(base, async ({ features }) => {
    const folds = buildOuterFolds(base, features);
    const rows = [];
    for (const { training, clusters } of folds) rows.push(await features.gatherRowsFor(training, clusters));
    const fits = countStagesNamed('fold-signals');
    expect(fits).toBeGreaterThanOrEqual(folds.length);
    rmSync(join(cacheFolder, 'embeddings'), { recursive: true });
    for (const [i, { training, clusters }] of folds.entries())
      expect(await features.gatherRowsFor(training, clusters)).toEqual(rows[i]);
    expect(() => readdirSync(join(cacheFolder, 'embeddings'))).toThrow('ENOENT');
    expect(countStagesNamed('fold-signals')).toBe(fits);
  });
});

test('where no encoder is fitted on anything that is held out, all folds have the same rows', async () => {
  await withTask(base, async ({ features, table }) => {
    const all = Int32Array.from(table.queryIds.keys());
    expect(await features.gatherRowsFor(all, [])).toEqual(table);
    expect(await features.gatherRowsFor(all, ['no conversation'])).toEqual(table);
  });
});

const buildTurn = (id: string, timestamp: number) => ({
  id,
  conversationId: 'c',
  parentId: null,
  timestamp,
  author: null,
  channel: null,
  text: id,
});
const corpus = new Corpus([
  buildTurn('a', 1),
  buildTurn('b', 2),
  buildTurn('c', 3),
  buildTurn('d', 4),
  buildTurn('e', 5),
]);
const buildFeatureQuery = (id: string, cluster: string): Query => ({
  id,
  text: id,
  timestamp: 9,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'dev',
  cluster,
});
const queries = [buildFeatureQuery('q1', 'c1'), buildFeatureQuery('q2', 'c2'), buildFeatureQuery('q3', 'c2')];
const qrels = new Map([
  [
    'q1',
    new Map([
      ['b', 2],
      ['d', 1],
      ['e', 3],
      ['c', 0],
    ]),
  ],
  [
    'q3',
    new Map([
      ['a', 1],
      ['b', -1],
    ]),
  ],
]);
const dataset = { corpus, qrels, relevantGrade: 2 } as unknown as Dataset;
const pool = { queryCount: 3, width: 2, positions: Int32Array.of(1, 2, 4, -1, -1, -1) } as unknown as CandidatePool;
const values = Float32Array.from({ length: 18 }, (_, i) => i);
const judged = buildFeatureTable(dataset, queries, pool, { signals: ['x', 'y', 'z'], values });

test('a candidate has the grade of its turn, padding none', () => {
  expect([...judged.grades]).toEqual([2, 0, 0, 0, 0, 0]);
  expect([...judged.mask]).toEqual([1, 1, 1, 0, 0, 0]);
});

test('judged turns that no source has found are counted by query, grades below relevance too', () => {
  expect([...judged.missed]).toEqual([2, 0, 1]);
  expect([...judged.missedGrades]).toEqual([1, 3, 1]);
});

test('the rest is that of the queries and of the bank', () => {
  expect(judged).toMatchObject({
    signals: ['x', 'y', 'z'],
    queryIds: ['q1', 'q2', 'q3'],
    clusters: ['c1', 'c2', 'c2'],
    width: 2,
    relevantGrade: 2,
  });
  expect(judged.values).toBe(values);
  expect(() => assertFeatureTable(judged)).not.toThrow();
});
