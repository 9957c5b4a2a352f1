import { expect, test } from 'vitest';
import { createAdamState, takeAdamStep } from './training.ts';

test('steps follow the published algorithm, with its biases corrected', () => {
  const gradients = [
    [0.3, -2],
    [0.1, 5],
    [-0.7, 0],
  ];
  let theta: Float64Array = Float64Array.of(1, -1);
  let state = createAdamState(2);
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
    ({ theta, state } = takeAdamStep(theta, Float64Array.from(gradient), state, 0.05));
    expect(theta[0]).toBeCloseTo(expected[0]!, 12);
    expect(theta[1]).toBeCloseTo(expected[1]!, 12);
  }
  expect(state.step).toBe(3);
});

test('the first step is the learning rate against the sign of the gradient', () => {
  const { theta } = takeAdamStep(Float64Array.of(0, 0, 0), Float64Array.of(1e-3, -7, 0), createAdamState(3), 0.1);
  expect(theta[0]).toBeCloseTo(-0.1, 5);
  expect(theta[1]).toBeCloseTo(0.1, 8);
  expect(theta[2]).toBe(0);
});

test('a state is not changed by the step that starts from it', () => {
  const state = createAdamState(1);
  takeAdamStep(Float64Array.of(1), Float64Array.of(2), state, 0.1);
  expect(state).toEqual(createAdamState(1));
});
