import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { copySignalColumn, type FeatureTable } from '../../rank/learning/feature-table.ts';
import { listModelSignals } from '../../rank/learning/model-signals.ts';
import { resolveConfig } from '../config/config.ts';
import { listUnheldConversations } from '../measure/cluster-conversations.ts';
import { StageCache } from '../run/stage-cache.ts';
import { openWorkspace } from '../run/workspaces.ts';
import { buildConversationsConfig, writeConversations } from './conversations.fixture.ts';
import { buildOuterFolds } from './fitted-methods.ts';
import { computeTaskSignals, findCandidatePool } from './fold-signals.ts';
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
