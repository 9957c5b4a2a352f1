import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Weights } from '../../rank/learning/weight-file.ts';
import { loadConfig } from '../config/config.ts';
import type { ArmResult } from '../measure/result.ts';
import { runTest } from './test-run.ts';
import { setFit, writeSampleTraining } from './training-config.fixture.ts';
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
const loadWith = (...changes: string[]) =>
  loadConfig(path, [...setFit('mix.fit.importance=false', 'mix.fit.resamples=0'), ...changes]);
const load = (...changes: string[]) => loadWith(...setFit(...changes));
const context = { cacheFolder: join(root, 'cache'), backend: 'cpu' as const, command: 'ragpp run sample' };

/** The parts of every shown place add up to its score, by float32. */
function assertPartsAddUp(arms: readonly ArmResult[]): void {
  for (const { name: method, rankings, contributionNames } of arms)
    for (const { id, score, contributions = [] } of rankings.flat()) {
      const size = contributions.reduce((sum, part) => sum + Math.abs(part), 0);
      const sum = contributions.reduce((total, part) => total + part, 0);
      expect(contributions).toHaveLength(contributionNames?.length ?? 0);
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
    expect(result.queries.length + result.unanswerable.length).toBe(dev.length);
    expect(new Set([...result.queries, ...result.unanswerable].map(({ cluster }) => cluster)).size).toBe(16);
    expect([...weights!.keys()]).toEqual([result.fit.file]);
    expect([...runs.keys()]).toEqual(result.arms.map(({ name }) => name));
    for (const run of runs.values()) expect([...run.keys()]).toEqual(dev);
    expect(result.fit.poolRecall > 0.9 && result.fit.poolRecall <= 1).toBe(true);
    const { provenance, values } = weights!.get('weights-linear.safetensors')!;
    expect([...values]).toEqual(result.fit.numbers.map(({ value }) => value));
    expect(provenance).toMatchObject({ seeds: [3], backend: 'cpu', dataHash: result.dataset.hash });
    expect(new Set(provenance.trainingContents).size).toBe(16);
  });

  test('holds the first ranks of every arm, and the parts of the scores of two', () => {
    const { result, runs } = finished;
    const { queries, dataset } = result;
    const shown = result.arms.filter(({ contributionNames = [] }) => contributionNames.length > 0);
    expect(shown.map(({ name }) => name)).toEqual(['hand-tuned', 'learned']);
    const ids = new Set(dataset.turns.map(({ id }) => id));
    assertPartsAddUp(shown);
    for (const { name, rankings, perQuery, metrics } of result.arms) {
      for (const [q, { id }] of queries.entries()) {
        const expected = runs.get(name)?.get(id)?.slice(0, 10) ?? [];
        expect(rankings[q]?.map((turn) => [turn.id, turn.score])).toEqual(
          expected.map((turn) => [turn.id, turn.score]),
        );
        expect(expected.every((turn) => ids.has(turn.id))).toBe(true);
      }
      for (const [metric, { mean }] of Object.entries(metrics)) {
        const values = perQuery[metric] ?? [];
        expect(values.reduce((a, b) => a + b, 0) / values.length).toBeCloseTo(mean, 12);
      }
    }
  });

  test('says how it was measured and what no order of the candidates can find', () => {
    expect(finished.result.remarks).toEqual([
      expect.stringMatching(
        /^Every ranking is by numbers that have not seen its conversation: \d+ folds of conversations; hyper-parameters by 2 folds within the others\.$/,
      ),
      expect.stringMatching(
        /^The candidates \(.+\) hold \S+ of the relevant turns; no order of them finds more\. \d+ signals\.$/,
      ),
    ]);
  });

  test('shows the parts of a trajectory model too', async () => {
    const { result } = await runTraining(
      load('mix.fit.model={name: trajectory, dimensions: 3}', 'mix.fit.epochs=1'),
      context,
    );
    const shown = result.arms.filter(({ contributionNames = [] }) => contributionNames.length > 0);
    expect(shown.map(({ name }) => name)).toEqual(['hand-tuned', 'learned']);
    for (const { contributionNames } of shown)
      expect(contributionNames?.toSorted()).toEqual([
        'fading',
        'ircp',
        'neighbours',
        'rcp',
        'relevance',
        'session',
        'tpo',
        'trajectory',
      ]);
    assertPartsAddUp(shown);
  });

  test('is identified by its config and its backend, not by the command', async () => {
    const runForHash = async (more: object, ...changes: string[]) =>
      (await runTraining(loadWith(...changes), { ...context, ...more })).result.hash;
    expect(await runForHash({ command: 'another' })).toBe(finished.result.hash);
    expect(await runForHash({ backend: 'wasm' })).not.toBe(finished.result.hash);
    expect(await runForHash({}, 'evaluation.limitQueries=17')).not.toBe(finished.result.hash);
  });

  test('ranks as many places as its config names', async () => {
    const { runs } = await runTraining(loadWith('evaluation.depth=3', 'evaluation.metrics=[recall@3]'), context);
    for (const [method, run] of runs)
      for (const [id, ranking] of run) expect(ranking).toEqual(finished.runs.get(method)?.get(id)?.slice(0, 3));
    expect([...finished.runs.values()].some((run) => [...run.values()].some(({ length }) => length > 3))).toBe(true);
  });

  test('needs no cache folder', async () => {
    const without = { ...context, cacheFolder: null };
    const { result, weights } = await runTraining(load(), without);
    expect(result.hash).toBe(finished.result.hash);
    expect([...weights!.values()].map(({ values }) => values)).toEqual(
      [...finished.weights!.values()].map(({ values }) => values),
    );
    const [[file, own]] = [...weights!] as [[string, Weights]];
    expect((await runTest(load(), file, own, without)).queries).toHaveLength(13);
  });

  test('keeps no tensor, whether it ends well or not', async () => {
    const before = tf.memory().numTensors;
    await runTraining(load(), context);
    expect(tf.memory().numTensors).toBe(before);
    const unsafe = load('mix.signals.groups=[text, time, attributes]', 'mix.fit.model={name: linear}');
    await expect(runTraining(unsafe, context)).rejects.toThrow(ValidationError);
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('runTest', () => {
  const file = 'weights-linear.safetensors';
  const weights = () => finished.weights!.get(file)!;

  test('measures the weights on the other split, beside what they came from', async () => {
    const before = tf.memory().numTensors;
    const result = await runTest(load(), file, weights(), context);
    expect(tf.memory().numTensors).toBe(before);
    expect(result.arms.map(({ name }) => name)).toEqual(['hand-tuned', 'uniform', 'learned']);
    expect([result.queries.length, result.unanswerable.length]).toEqual([13, 1]);
    expect(new Set(result.queries.map(({ cluster }) => cluster)).size).toBe(7);
  });

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
    const other = { ...rest, provenance: { ...provenance, ...changed } };
    await expect(runTest(load(), file, other, context)).rejects.toThrow(message);
    expect(tf.memory().numTensors).toBe(before);
  });

  test('refuses weights whose signals are not there', async () => {
    const config = load('mix.signals.groups=[text]', 'mix.fit.model={name: linear}');
    await expect(runTest(config, file, weights(), context)).rejects.toThrow(/need missing signals: .*decay\.24h/);
  });
});
