import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { computeAgesHours, timeDecay } from './time-decay.ts';

const HOUR_MILLISECONDS = 3_600_000;

test('ages are exact to the second in the present, and 0 for padding', () => {
  const now = Date.UTC(2026, 0, 5);
  const timestamps = Float64Array.of(now - 30 * HOUR_MILLISECONDS, now - 24 * HOUR_MILLISECONDS, now - 1000);
  const ages = computeAgesHours(
    timestamps,
    Float64Array.of(now, now + HOUR_MILLISECONDS),
    Int32Array.of(0, 1, 2, 2, -1, 0),
  );
  expect([...ages]).toEqual([30, 24, 1 / 3600, 1 + 1 / 3600, 0, 31].map(Math.fround));
  expect(computeAgesHours(timestamps, new Float64Array(0), new Int32Array(0))).toHaveLength(0);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('halves with each half-life', async () => {
    const ages = tf.tensor2d([[0, 24, 48, 36, 24 * 3650]]);
    const before = tf.memory().numTensors;
    const decay = timeDecay(ages, 24);
    const got = [...(await decay.data())];
    decay.dispose();
    for (const [i, expected] of [1, 0.5, 0.25, Math.SQRT1_2 / 2, 0].entries()) expect(got[i]).toBeCloseTo(expected, 6);
    expect(() => timeDecay(ages, 0)).toThrow('half-life is not positive: 0');
    expect(tf.memory().numTensors).toBe(before);
    ages.dispose();
  });
});
