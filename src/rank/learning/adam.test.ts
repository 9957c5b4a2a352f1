import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { type AdamTensors, createAdamState, takeAdamStep, takeAdamStepOnDevice } from './adam.ts';

const learningRate = 0.05;
const gradients = [
  [0.3, -2],
  [0.1, 5],
  [-0.7, 0],
];

test('steps follow the published algorithm, with its biases corrected', () => {
  let state = createAdamState(Float64Array.of(1, -1));
  const expected = [1, -1];
  const [m, v] = [
    [0, 0],
    [0, 0],
  ];
  for (const [t, gradient] of gradients.entries()) {
    for (let i = 0; i < 2; i++) {
      m[i] = 0.9 * m[i]! + 0.1 * gradient[i]!;
      v[i] = 0.999 * v[i]! + 0.001 * gradient[i]! * gradient[i]!;
      const corrected = m[i]! / (1 - 0.9 ** (t + 1));
      expected[i]! -= (0.05 * corrected) / (Math.sqrt(v[i]! / (1 - 0.999 ** (t + 1))) + 1e-8);
    }
    state = takeAdamStep(state, Float64Array.from(gradient), { learningRate });
    expect(state.theta[0]).toBeCloseTo(expected[0]!, 12);
    expect(state.theta[1]).toBeCloseTo(expected[1]!, 12);
  }
  expect(state.step).toBe(3);
});

test('the first step is the learning rate against the sign of the gradient', () => {
  const slopes = Float64Array.of(1e-3, -7, 0);
  const { theta } = takeAdamStep(createAdamState(new Float64Array(3)), slopes, { learningRate: 0.1 });
  expect(theta[0]).toBeCloseTo(-0.1, 5);
  expect(theta[1]).toBeCloseTo(0.1, 8);
  expect(theta[2]).toBe(0);
});

test('a state is not changed by the step that starts from it', () => {
  const start = Float64Array.of(1);
  const state = createAdamState(start);
  takeAdamStep(state, Float64Array.of(2), { learningRate });
  expect(state).toEqual(createAdamState(start));
});

test('a gradient is scaled down to the norm of clip, and a shorter one stays', () => {
  const state = createAdamState(new Float64Array(2));
  const clipped = takeAdamStep(state, Float64Array.of(3, -4), { learningRate, clip: 1 });
  expect(clipped.first[0]).toBeCloseTo(0.06, 12);
  expect(clipped.first[1]).toBeCloseTo(-0.08, 12);
  const short = takeAdamStep(state, Float64Array.of(3, -4), { learningRate, clip: 5 });
  expect(short).toEqual(takeAdamStep(state, Float64Array.of(3, -4), { learningRate }));
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test.each([undefined, 1, 100])('steps on the device are those of the host, with clip %s', async (clip) => {
    let expected = createAdamState(Float64Array.of(1, -1));
    let state: AdamTensors = {
      step: 0,
      theta: tf.tensor1d([1, -1]),
      first: tf.zeros<tf.Rank.R1>([2]),
      second: tf.zeros<tf.Rank.R1>([2]),
    };
    for (const gradient of gradients) {
      expected = takeAdamStep(expected, Float64Array.from(gradient), { learningRate, clip });
      const slopes = tf.tensor1d(gradient);
      const next = takeAdamStepOnDevice(state, slopes, { learningRate, clip });
      tf.dispose([state.theta, state.first, state.second, slopes]);
      state = next;
      expect(state.step).toBe(expected.step);
      for (const name of ['theta', 'first', 'second'] as const)
        for (const [i, value] of (await state[name].data()).entries())
          expect(Math.abs(value - expected[name][i]!)).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected[name][i]!)));
    }
    tf.dispose([state.theta, state.first, state.second]);
  });
});
