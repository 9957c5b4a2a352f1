import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { runTest } from './test-run.ts';
import { writeSampleTraining } from './training-config.fixture.ts';
import { loadTrainingConfig } from './training-config.ts';
import type { InspectedMethod } from './training-result.ts';
import { type FinishedTraining, runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-training-run-'));
afterAll(() => rmSync(root, { recursive: true }));
const path = writeSampleTraining(root);
/** Of the first turn of a test conversation. */
const opening = readFileSync(join(root, 'turns.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly id: string; readonly timestamp: number; readonly text: string })
  .filter(({ id }) => id === 't17-0')
  .map(({ timestamp, text }) => computeHash([timestamp, text]).slice(0, 16));
const load = (...changes: string[]) =>
  loadTrainingConfig(path, ['importance=false', 'evaluation.resamples=0', ...changes]);
const context = { cacheFolder: join(root, 'cache'), backend: 'cpu', command: 'ragpp train sample' };

/** The parts of every shown place add up to its score, by float32. */
function assertPartsAddUp(methods: readonly InspectedMethod[]): void {
  for (const { method, rankings, contributionNames } of methods)
    for (const { id, score, contributions = [] } of rankings.flat()) {
      const size = contributions.reduce((sum, part) => sum + Math.abs(part), 0);
      const sum = contributions.reduce((total, part) => total + part, 0);
      expect(contributions).toHaveLength(contributionNames.length);
      expect(Math.abs(sum - score), `${method}, ${id}: ${contributions} for ${score}`).toBeLessThan(1e-6 + 1e-5 * size);
    }
}

let finished: FinishedTraining;
beforeAll(async () => {
  await useBackend('cpu');
  finished = await runTraining(load(), context);
});

describe('runTraining', () => {
  test('gives a result, weights and rankings that belong together', () => {
    const { result, weights, runs, qrels } = finished;
    const dev = [...qrels.keys()];
    expect([result.queries, result.conversations]).toEqual([dev.length, 16]);
    expect([...weights.keys()]).toEqual(result.models.map(({ file }) => file));
    expect([...runs.keys()]).toEqual(result.models[0]?.methods.map(({ name }) => `linear, ${name}`));
    for (const run of runs.values()) expect([...run.keys()]).toEqual(dev);
    expect(result.poolRecall > 0.9 && result.poolRecall <= 1).toBe(true);
    const { provenance, values } = weights.get('weights-linear.safetensors')!;
    expect([...values]).toEqual(result.models[0]?.numbers.map(({ value }) => value));
    expect(provenance).toMatchObject({ seeds: [3], backend: 'cpu', dataHash: result.dataset.hash });
    expect(new Set(provenance.trainingContents).size).toBe(16);
  });

  test('holds the first places of the methods that its page compares', () => {
    const { result, runs } = finished;
    const { queries, methods, turns } = result.inspection ?? { queries: [], methods: [], turns: [] };
    expect(queries).toHaveLength(result.models[0]?.measured.queries ?? 0);
    expect(methods.map(({ model, method }) => `${model}, ${method}`)).toEqual([
      'linear, hand-tuned',
      'linear, learned',
    ]);
    const ids = new Set(turns.map(({ id }) => id));
    assertPartsAddUp(methods);
    for (const { model, method, rankings, perQuery, contributionNames } of methods) {
      expect(contributionNames.length).toBeGreaterThan(method === 'learned' ? 1 : 0);
      for (const [q, { id }] of queries.entries()) {
        const expected = runs.get(`${model}, ${method}`)?.get(id)?.slice(0, 10) ?? [];
        expect(rankings[q]?.map((turn) => [turn.id, turn.score])).toEqual(
          expected.map((turn) => [turn.id, turn.score]),
        );
        expect(expected.every((turn) => ids.has(turn.id))).toBe(true);
      }
      const found = result.models[0]?.methods.find(({ name }) => name === method);
      for (const [metric, { mean }] of Object.entries(found?.metrics ?? {})) {
        const values = perQuery[metric] ?? [];
        expect(values.reduce((a, b) => a + b, 0) / values.length).toBeCloseTo(mean, 12);
      }
    }
  });

  test('shows the parts of a trajectory model too', async () => {
    const { result } = await runTraining(
      load('models=[{name: trajectory, dimensions: 3}]', 'fitting.epochs=1'),
      context,
    );
    const { methods } = result.inspection ?? { methods: [] };
    expect(methods.map(({ method }) => method)).toEqual(['hand-tuned', 'learned']);
    for (const { contributionNames } of methods)
      expect(contributionNames.toSorted()).toEqual([
        'fading',
        'ircp',
        'neighbours',
        'rcp',
        'relevance',
        'session',
        'tpo',
        'trajectory',
      ]);
    assertPartsAddUp(methods);
  });

  test('is identified by its config and its backend, not by the command', async () => {
    const runForHash = async (more: object, ...changes: string[]) =>
      (await runTraining(load(...changes), { ...context, ...more })).result.hash;
    expect(await runForHash({ command: 'another' })).toBe(finished.result.hash);
    expect(await runForHash({ backend: 'wasm' })).not.toBe(finished.result.hash);
    expect(await runForHash({}, 'limitQueries=17')).not.toBe(finished.result.hash);
  });

  test('ranks as many places as its config names', async () => {
    const { runs } = await runTraining(load('evaluation.depth=3', 'evaluation.metrics=[recall@3]'), context);
    for (const [method, run] of runs)
      for (const [id, ranking] of run) expect(ranking).toEqual(finished.runs.get(method)?.get(id)?.slice(0, 3));
    expect([...finished.runs.values()].some((run) => [...run.values()].some(({ length }) => length > 3))).toBe(true);
  });

  test('needs no cache folder', async () => {
    const { cacheFolder: _, ...without } = context;
    const { result, weights } = await runTraining(load(), without);
    expect(result.hash).toBe(finished.result.hash);
    expect([...weights.values()].map(({ values }) => values)).toEqual(
      [...finished.weights.values()].map(({ values }) => values),
    );
    expect((await runTest(load(), weights, {})).queries).toBe(14);
  });

  test('keeps no tensor, whether it ends well or not', async () => {
    const before = tf.memory().numTensors;
    await runTraining(load(), context);
    expect(tf.memory().numTensors).toBe(before);
    await expect(runTraining(load('models.0.signals=[bm26]'), context)).rejects.toThrow(ValidationError);
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('runTest', () => {
  test('measures the weights on the other split, beside what they came from', async () => {
    const before = tf.memory().numTensors;
    const result = await runTest(load(), finished.weights, context);
    expect(tf.memory().numTensors).toBe(before);
    expect(result.queries).toBe(14);
    const [model] = result.models;
    expect(model?.methods.map(({ name }) => name)).toEqual(['hand-tuned', 'uniform', 'learned']);
    expect(model?.measured).toEqual({ queries: 13, conversations: 7 });
  });

  const [[file, weights]] = [
    ['weights-linear.safetensors', () => finished.weights.get('weights-linear.safetensors')!],
  ] as const;
  test.each([
    ['of other data', { dataHash: 'abc' }, /were trained on other data than dataset /],
    ['that had seen a test conversation', { trainingClusters: ['c1', 'c20'] }, /conversation of the test split: c20/],
    [
      'that had seen its content under another id',
      { trainingContents: opening },
      /conversation of the test split: c17/,
    ],
  ])('refuses weights %s', async (_, changed, message) => {
    const before = tf.memory().numTensors;
    const { provenance, ...rest } = weights();
    const other = new Map([[file, { ...rest, provenance: { ...provenance, ...changed } }]]);
    await expect(runTest(load(), other, context)).rejects.toThrow(message);
    expect(tf.memory().numTensors).toBe(before);
  });

  test('refuses weights whose signals are not there', async () => {
    const config = load('signals.groups=[text]', 'models=[{name: linear}]');
    await expect(runTest(config, finished.weights, context)).rejects.toThrow(/need missing signals: .*decay\.24h/);
  });
});
