import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createLinearModel } from './linear-model.ts';
import type { ScoringModel } from './model.ts';
import { fitStandardisation } from './standardisation.ts';
import { type TrainingOptions, train } from './training.ts';
import { createTrajectoryModel } from './trajectory-model.ts';
import { drawTrajectoryTable } from './trajectory-table.fixture.ts';

const signals = ['a', 'b', 'c'];
const table = drawHandmadeTable({ queries: 37, candidates: 7, clusters: 3, signals, weights: [1, -1, 2], seed: 5 });
const standardisation = fitStandardisation(table, signals);
const trajectoryTable = drawTrajectoryTable(11, 7, 5, 3);
const CASES: readonly [string, ScoringModel, typeof table][] = [
  ['free weights', createLinearModel({ signals }, standardisation), table],
  ['weights that are not negative', createLinearModel({ signals, nonNegative: ['a', 'c'] }, standardisation), table],
  [
    'positive numbers, shares and a simplex',
    createTrajectoryModel({ dimensions: 5, self: 'include' }),
    trajectoryTable,
  ],
];
const LOSSES = ['listwise', 'infonce'] as const;
const options: Partial<TrainingOptions> = { epochs: 10, batchSize: 8, seed: 3, l2: 0.01 };

afterEach(() => vi.restoreAllMocks());

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  const lossCases = CASES.flatMap(([name, ...rest]) => LOSSES.map((loss) => [loss, name, ...rest] as const));
  test.each(lossCases)('%s has the same losses with steps on the device: %s', async (name, _, model, rows) => {
    const shared = { ...options, loss: { name, temperature: 0.7 }, clip: 0.5 };
    const host = await train(model, rows, rows, { ...shared, steps: 'host' });
    const device = await train(model, rows, rows, { ...shared, steps: 'device' });
    expect(device.curve).toHaveLength(host.curve.length);
    expect(host.curve.at(-1)!.loss).toBeLessThan(host.curve[1]!.loss! - 1e-3);
    for (const [epoch, { loss }] of device.curve.entries()) {
      if (epoch > 0) expect(Math.abs(loss! - host.curve[epoch]!.loss!)).toBeLessThan(1e-6);
    }
    expect(device.bestEpoch).toBe(host.bestEpoch);
  });

  test('steps on the device read back once an epoch, and once before the first', async () => {
    const read = vi.spyOn(tf.Tensor.prototype, 'data');
    const [, model, rows] = CASES[1]!;
    const usual = backend === 'cuda' || backend === 'webgpu' ? 'device' : 'host';
    for (const validation of [null, rows])
      for (const steps of ['device', 'host', undefined] as const) {
        read.mockClear();
        const { curve } = await train(model, rows, validation, { ...options, ...(steps && { steps }) });
        const onHost = 5 * (curve.length - 1) + (validation === null ? 0 : curve.length);
        expect(read).toHaveBeenCalledTimes((steps ?? usual) === 'device' ? curve.length : onHost);
      }
  });

  test.each(['host', 'device'] as const)('a training that diverges on the %s says so', async (steps) => {
    const [, model, rows] = CASES[0]!;
    const diverging = { ...options, learningRate: Number.NaN, steps };
    await expect(train(model, rows, null, diverging)).rejects.toThrow(/loss or its gradient is not finite/);
  });
});
