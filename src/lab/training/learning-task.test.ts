import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { loadConfig, resolveConfig } from '../config/config.ts';
import { sampleConversationQueries } from '../run/rankings.ts';
import { LearningTask } from './learning-task.ts';
import { buildSampleTrainingConfig, setFit, writeSampleTraining } from './training-config.fixture.ts';
import { readTraining } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-task-'));
afterAll(() => rmSync(root, { recursive: true }));
beforeAll(() => useBackend('cpu'));
const path = writeSampleTraining(root);
const context = { cacheFolder: join(root, 'cache') };
const open = (...changes: string[]) => LearningTask.open(readTraining(loadConfig(path, changes)), context);

test('a task has the queries of its split, a row each, and gives its tensors back', async () => {
  const before = tf.memory().numTensors;
  for (const split of ['dev', 'test'] as const) {
    const config = readTraining(loadConfig(path));
    const task = await LearningTask.open({ ...config, evaluation: { ...config.evaluation, split } }, context);
    expect(task.table.queryIds).toEqual(
      task.dataset.queries.filter((query) => query.split === split).map(({ id }) => id),
    );
    expect(new Set(task.table.clusters).size).toBeGreaterThan(5);
    task.dispose();
  }
  expect(tf.memory().numTensors).toBe(before);
});

test('a limited number of queries, of conversations drawn by the seed', async () => {
  const [all, some] = [await open(), await open('evaluation.limitQueries=7')];
  const kept = sampleConversationQueries(all.queries, 7, 3).map(({ id }) => id);
  expect(kept).toHaveLength(7);
  expect(some.table.queryIds).toEqual(all.table.queryIds.filter((id) => kept.includes(id)));
  for (const task of [all, some]) task.dispose();
});

test('no text is embedded where no signal and no source reads a vector', async () => {
  const stages: string[] = [];
  const progress: StartProgress = (stage) => {
    stages.push(stage);
    return { update: () => {}, finish: () => {} };
  };
  const embeds = async (group: string, signal: string) => {
    stages.length = 0;
    const bank = setFit('search={newest: {k: 12}}', `mix.signals.groups=[${group}]`, 'mix.signals.encoders=[]');
    const fit = setFit('mix.fit.model.signals=null', `mix.fit.model.initial={${signal}: 1}`);
    const config = readTraining(loadConfig(path, [...bank, ...fit]));
    (await LearningTask.open(config, { cacheFolder: null, progress })).dispose();
    return stages.some((stage) => stage.startsWith('encode with'));
  };
  expect(await embeds('time', 'recency')).toBe(false);
  expect(await embeds('text', 'bm25')).toBe(true);
});

const { arms, ...sample } = buildSampleTrainingConfig(root);
const filtered = {
  ...sample,
  arms: { learned: [{ filter: "not id contains '-1'" }, ...arms.learned.steps] },
};

test('a filter limits the candidates before the search, so that others take the place of those refused', async () => {
  const [all, some] = [await open(), await LearningTask.open(readTraining(resolveConfig(filtered, 'test')), context)];
  const [found, kept] = [all, some].map(({ dataset, pool: { positions } }) =>
    [...positions].filter((position) => position >= 0).map((position) => dataset.corpus.turns[position]!.id),
  );
  const allowed = found!.filter((id) => !id.includes('-1'));
  expect(allowed.length).toBeLessThan(found!.length);
  expect(kept!.filter((id) => id.includes('-1'))).toEqual([]);
  expect(kept!.length).toBeGreaterThan(allowed.length);
  for (const task of [all, some]) task.dispose();
});

test('what was computed is kept, by its name, its options and the signals', async () => {
  let computed = 0;
  const compute = async () => ({ values: Float64Array.of(++computed) });
  const ask = async (options: unknown, name = 'something', ...changes: string[]) => {
    const task = await open(...changes);
    const { values } = await task.keepResult(name, options, compute);
    task.dispose();
    return values[0];
  };
  expect(await ask({ a: 1 })).toBe(1);
  expect(await ask({ a: 1 })).toBe(1);
  expect(await ask({ a: 2 })).toBe(2);
  expect(await ask({ a: 1 }, 'another')).toBe(3);
  expect(await ask({ a: 1 }, 'something', 'evaluation.limitQueries=7')).toBe(4);
  const text = setFit('mix.signals.groups=[text]', 'mix.fit.model={name: linear}');
  expect(await ask({ a: 1 }, 'something', ...text)).toBe(5);
});

test('a model that mixes signals of attributes is refused on turns without them, and no tensor is kept', async () => {
  const before = tf.memory().numTensors;
  const changes = setFit('mix.signals.groups=[text, time, attributes]', 'mix.fit.model={name: linear}');
  await expect(open(...changes)).rejects.toThrow(
    /no attribute for scoring signal outcome of arm learned.*list other signals in mix\.fit\.model\.signals/,
  );
  expect(tf.memory().numTensors).toBe(before);
});
