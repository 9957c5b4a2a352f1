import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from '../../rank/learning/feature-table.fixture.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { train } from '../../rank/learning/training.ts';
import { loadConfig } from '../config/config.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import type { Measurement } from '../measure/measurement.ts';
import { buildOuterFolds, measureMethods } from './fitted-methods.ts';
import { LearningTask } from './learning-task.ts';
import { bootstrapWeights, listMethodArms, type TrainedModel, trainModel } from './model-run.ts';
import { writeSampleTraining } from './training-config.fixture.ts';
import { readTraining } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-model-run-'));
const config = readTraining(loadConfig(writeSampleTraining(root)));
let task: LearningTask;
let trained: TrainedModel;
let measurement: Measurement;

beforeAll(async () => {
  await useBackend('cpu');
  task = await LearningTask.open(config, { cacheFolder: join(root, 'cache') });
  trained = await trainModel({ task, config });
  measurement = await measureMethods(task, config, trained.runs);
});
afterAll(() => {
  task.dispose();
  rmSync(root, { recursive: true });
});

describe('a model that is trained on a task', () => {
  test('has rankings and figures of every method, the others compared with the hand-tuned one', () => {
    const arms = listMethodArms(trained, measurement, 10);
    expect(arms.map(({ name }) => name)).toEqual([...FIT_METHODS]);
    expect(arms.map(({ comparisons }) => comparisons === null)).toEqual([true, false, false, false, false]);
    expect([...trained.runs.keys()]).toEqual([...FIT_METHODS]);
    for (const run of trained.runs.values()) expect([...run.keys()]).toEqual(task.table.queryIds);
    const judged = task.table.queryIds.filter((id) => (task.dataset.qrels.get(id)?.size ?? 0) > 0);
    expect(measurement.queries.map(({ id }) => id)).toEqual(judged);
    expect(new Set(measurement.queries.map(({ cluster }) => cluster)).size).toBe(16);
  });

  test('has a number a signal, with where it started and bounds', () => {
    const { numbers } = trained.fit;
    expect(numbers.map(({ label }) => label)).toEqual(['bm25@share', 'cosine@share', 'cosine@next', 'decay.24h']);
    expect(numbers.map(({ handTuned }) => handTuned)).toEqual([1, 0, 0, 0]);
    expect(numbers.map(({ value }) => value)).toEqual([...trained.values]);
    for (const { interval } of numbers) expect(interval!.low).toBeLessThanOrEqual(interval!.high);
  });

  test('has folds that hold out every conversation once, each with a point of the grid and curves', () => {
    const { folds } = trained.fit;
    const held = folds.flatMap(({ clusters }) => clusters);
    expect(held.toSorted()).toEqual([...new Set(task.table.clusters)].toSorted());
    for (const { point, epochs, curve, validation } of folds) {
      expect([0.003, 0.03]).toContain(point.l2);
      expect(curve).toHaveLength(epochs + 1);
      expect(validation.every((value) => value >= 0 && value <= 1)).toBe(true);
    }
  });

  test('has searches that evaluate as often as a training of each fold takes', () => {
    const { searches, folds } = trained.fit;
    expect(searches.map(({ method }) => method)).toEqual(['random search', 'coordinate ascent']);
    const [drawn, climbed] = searches;
    expect(climbed?.evaluations).toEqual(drawn?.evaluations);
    for (const { evaluations, foldsAtStart } of searches) {
      expect(evaluations).toHaveLength(folds.length);
      expect(foldsAtStart).toBeLessThanOrEqual(folds.length);
      // 2 points in 2 inner folds, of which each trains on half of the rows for 1 to 3 epochs
      for (const count of evaluations) expect(count >= 4 && count <= 2 * (3 * 2 + 4) + 3 * 2).toBe(true);
    }
  });

  test('is calibrated over all candidates, which each fold finds by an encoder of its own', async () => {
    const { bins } = trained.fit.calibration;
    let candidates = 0;
    for (const { heldOut, clusters } of buildOuterFolds(config, task.features)) {
      const { table } = await task.judgeRowsFor(heldOut, clusters);
      candidates += table.mask.reduce((sum, one) => sum + one, 0);
    }
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(candidates);
  });

  test('says what is left where candidates exchange what signals look at', () => {
    const { controls } = trained.fit;
    expect(controls.map(({ part, signals }) => [part, signals])).toEqual([
      ['neighbours', ['cosine@next']],
      ['time', ['decay.24h']],
      ['all of these', ['cosine@next', 'decay.24h']],
    ]);
    // Hand-tuned reads bm25 alone, so that all of these exchanges leave it as it is.
    for (const { baseline } of controls) {
      expect(baseline.isUnchanged).toBe(true);
      for (const { difference } of Object.values(baseline.comparisons)) expect(difference.mean).toBe(0);
    }
    const learned = measurement.arms.at(-1)?.metrics;
    for (const { metrics, comparisons } of controls)
      for (const metric of config.evaluation.metrics)
        expect(metrics[metric]!.mean - learned![metric]!.mean).toBeCloseTo(comparisons[metric]!.difference.mean, 10);
  });

  test('says what each family of signals is worth, a difference a metric', () => {
    const { importance } = trained.fit;
    expect(importance.map(({ family, signals }) => [family, signals])).toEqual([
      ['bm25', ['bm25@share']],
      ['cosine', ['cosine@share', 'cosine@next']],
      ['decay.Nh', ['decay.24h']],
    ]);
    for (const { comparisons } of importance) expect(Object.keys(comparisons)).toEqual(config.evaluation.metrics);
  });
});

test('it is the same once more, from the cache', async () => {
  const again = await trainModel({ task, config });
  expect(again.fit).toEqual(trained.fit);
});

test('without importance, controls or resamples there is none of them', async () => {
  const bare = { ...config, fit: { ...config.fit, importance: false, controls: false, resamples: 0 } };
  const { fit } = await trainModel({ task, config: bare });
  expect(fit.importance).toEqual([]);
  expect(fit.controls).toEqual([]);
  expect(fit.numbers.map(({ interval }) => interval)).toEqual([null, null, null, null]);
});

const signals = ['a', 'b', 'c'];
const shape = { queries: 61, candidates: 7, signals, weights: [1, -1, 0], noise: 0.5, seed: 5 };
const point = {
  loss: { name: 'listwise' as const, temperature: 1 },
  learningRate: 0.2,
  l2: 0.001,
  epochs: 11,
  patience: 11,
  batchSize: null,
  startNoise: 0,
};
const createBootstrapModel = (table: ReturnType<typeof drawHandmadeTable>) =>
  createLinearModel({ signals, nonNegative: [], initial: {} }, fitStandardisation(table, signals));
const options = { resamples: 13, level: 0.9, seed: 3 };

describe('bootstrapWeights, on wasm', () => {
  useBackendWithoutLeaks('wasm');

  test('intervals hold what all rows teach, and tell what matters from what does not', async () => {
    const table = drawHandmadeTable({ ...shape, clusters: 7 });
    const model = createBootstrapModel(table);
    const { values } = await train(model, table, null, { ...point, seed: 3 });
    const told: number[] = [];
    const { low, high } = await bootstrapWeights(model, table, point, options, (done) => told.push(done));
    for (const [p, value] of values.entries()) expect(low[p]! < value && value < high[p]!, `number ${p}`).toBe(true);
    expect([low[0]! > 0, high[1]! < 0, low[2]! < 0 && high[2]! > 0]).toEqual([true, true, true]);
    expect(told).toEqual(Array.from({ length: 13 }, (_, i) => i + 1));
    expect(await bootstrapWeights(model, table, point, options)).toEqual({ low, high });
  });

  test('what is resampled is conversations: of a single one nothing varies', async () => {
    const table = drawHandmadeTable({ ...shape, clusters: 1 });
    const { low, high } = await bootstrapWeights(createBootstrapModel(table), table, point, options);
    expect(low).toEqual(high);
  });

  test('a wider level gives wider intervals', async () => {
    const table = drawHandmadeTable({ ...shape, clusters: 7 });
    const narrow = await bootstrapWeights(createBootstrapModel(table), table, point, { ...options, level: 0.2 });
    const wide = await bootstrapWeights(createBootstrapModel(table), table, point, options);
    for (const p of [0, 1, 2]) {
      expect(wide.low[p]!).toBeLessThan(narrow.low[p]!);
      expect(wide.high[p]!).toBeGreaterThan(narrow.high[p]!);
    }
  });
});
