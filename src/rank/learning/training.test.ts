import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { expectEventsLetIn } from '../../core/terminal/slow-progress.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { selectQueries } from './feature-table.ts';
import { createLinearModel } from './linear-model.ts';
import { fitStandardisation } from './standardisation.ts';
import { type TrainingOptions, train, withTrainer } from './training.ts';

const signals = ['a', 'b', 'c'];
const numberRange = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i);
const shape = { queries: 211, candidates: 13, clusters: 5, signals, seed: 1 };
const whole = drawHandmadeTable({ ...shape, weights: [1, -2, 0.5], noise: 0.3 });
const table = selectQueries(whole, numberRange(0, 149));
const validation = selectQueries(whole, numberRange(149, 211));
const model = createLinearModel({ signals, nonNegative: [], initial: {} }, fitStandardisation(table, signals));
const options: TrainingOptions = {
  loss: { name: 'listwise', temperature: 1 },
  learningRate: 0.1,
  l2: 0,
  epochs: 53,
  patience: 53,
  batchSize: null,
  seed: 3,
  startNoise: 0.01,
};

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test.each(['listwise', 'infonce'] as const)('%s finds the weights that a table was made with', async (name) => {
    const { values, curve, bestEpoch } = await train(model, table, validation, {
      ...options,
      startNoise: 0,
      loss: { name, temperature: 1 },
    });
    const [a, b, c] = values as unknown as [number, number, number];
    expect(b / a).toBeCloseTo(-2, 0);
    expect(c / a).toBeCloseTo(0.5, 0);
    expect(curve[0]?.validation).toBeLessThan(0.7);
    expect(curve[bestEpoch]?.validation).toBeGreaterThan(0.9);
    expect(curve.at(-1)?.loss).toBeLessThan(0.8 * curve[1]!.loss!);
  });
});

describe('on wasm', () => {
  beforeAll(() => useBackend('wasm'));
  const short = { ...options, epochs: 7, batchSize: 31 };

  test('several trainings by one trainer are those of each alone, whatever they have in common', async () => {
    const before = tf.memory().numTensors;
    const trials = [
      short,
      { ...short, l2: 0.1 },
      { ...short, loss: { name: 'infonce' as const, temperature: 2 } },
      { ...short, seed: 5 },
      short,
    ];
    await withTrainer({ model, table, validation }, async (trainer) => {
      for (const trial of trials)
        expect(await trainer.train(trial)).toEqual(await train(model, table, validation, trial));
      await expect(trainer.train({ ...short, learningRate: Number.NaN })).rejects.toThrow(/not finite|is not free/);
      expect(await trainer.train(short)).toEqual(await train(model, table, validation, short));
    });
    expect(tf.memory().numTensors).toBe(before);
  });

  test('relevance by lot teaches nothing that helps with other queries', async () => {
    const lot = drawHandmadeTable(shape);
    const result = await train(
      model,
      selectQueries(lot, numberRange(0, 149)),
      selectQueries(lot, numberRange(149, 211)),
      {
        ...options,
        startNoise: 0,
      },
    );
    const flat = await train(
      model,
      selectQueries(lot, numberRange(0, 149)),
      selectQueries(lot, numberRange(149, 211)),
      {
        ...options,
        epochs: 0,
        startNoise: 0,
      },
    );
    // Chance for two relevant of thirteen is near 0.45; the best of many epochs on 62 queries lies a little above it.
    expect(result.curve[result.bestEpoch]?.validation).toBeLessThan(0.6);
    expect(flat.curve).toHaveLength(1);
  });

  test('the same options give the same numbers; another seed other batches and another start', async () => {
    const first = await train(model, table, validation, short);
    expect(await train(model, table, validation, short)).toEqual(first);
    const other = await train(model, table, validation, { ...short, seed: 5 });
    expect(other.theta).not.toEqual(first.theta);
  });

  test('it stops when no better epoch comes, and keeps the best', async () => {
    const { curve, bestEpoch, theta } = await train(model, table, validation, { ...options, patience: 3, epochs: 500 });
    expect(curve.length - 1).toBe(bestEpoch + 3);
    const best = Math.max(...curve.map((point) => point.validation!));
    expect(curve[bestEpoch]?.validation).toBe(best);
    expect(curve.findIndex((point) => point.validation === best)).toBe(bestEpoch);
    const upTo = await train(model, table, validation, { ...options, epochs: bestEpoch });
    expect(theta).toEqual(upTo.theta);
  });

  test('without validation the last epoch counts', async () => {
    const { curve, bestEpoch } = await train(model, table, null, short);
    expect(bestEpoch).toBe(7);
    expect(curve.map((point) => point.validation)).toEqual(new Array(8).fill(null));
  });

  test('a penalty keeps the weights near where they start', async () => {
    const measureTrainedLength = async (l2: number) =>
      Math.hypot(...(await train(model, table, null, { ...options, l2 })).theta);
    expect(await measureTrainedLength(1)).toBeLessThan(0.3 * (await measureTrainedLength(0)));
  });

  test('queries without a relevant candidate are counted and change nothing', async () => {
    const silentRows = { ...whole, grades: whole.grades.map((grade, pair) => (pair < 149 * 13 ? grade : 0)) };
    const withSilent = await train(model, silentRows, null, { ...short, batchSize: null });
    const without = await train(model, table, null, { ...short, batchSize: null });
    expect(withSilent.leftOut).toBe(62);
    for (const [i, value] of withSilent.theta.entries()) expect(value).toBeCloseTo(without.theta[i]!, 6);
  });

  test('an aborted training ends before its next epoch, with the reason', async () => {
    for (const stop of [0, 1, 4]) {
      const controller = new AbortController();
      const epochs: number[] = [];
      const update = (epoch: number) => {
        epochs.push(epoch);
        if (epoch === stop) controller.abort(new Error('told to'));
      };
      if (stop === 0) controller.abort(new Error('told to'));
      const hooks = { signal: controller.signal, progress: () => ({ update, finish() {} }) };
      await expect(train(model, table, validation, short, hooks)).rejects.toThrow('told to');
      expect(epochs).toEqual([1, 2, 3, 4].slice(0, stop));
    }
  });

  test('an abort within an epoch ends the training after that epoch', async () => {
    const controller = new AbortController();
    const epochs: number[] = [];
    let training: Promise<unknown> = Promise.resolve();
    await new Promise<void>((resolve) => {
      const update = (epoch: number) => {
        epochs.push(epoch);
        resolve();
      };
      const watchEpochs = () => ({ update, finish() {} });
      training = train(model, table, validation, short, { signal: controller.signal, progress: watchEpochs });
    });
    controller.abort(new Error('told to'));
    await expect(training).rejects.toThrow('told to');
    expect(epochs).toEqual([1]);
  });

  test('a training that fails leaves no tensor', async () => {
    const before = tf.memory().numTensors;
    const broken = { ...validation, values: new Float32Array(5) };
    await expect(train(model, table, broken, short)).rejects.toThrow();
    const diverging = { ...short, learningRate: Number.NaN };
    await expect(train(model, table, validation, diverging)).rejects.toThrow(/not finite|is not free/);
    expect(tf.memory().numTensors).toBe(before);
  });

  test('events are let in between epochs', () =>
    expectEventsLetIn((progress) => train(model, table, null, { ...options, epochs: 13 }, { progress })));
});
