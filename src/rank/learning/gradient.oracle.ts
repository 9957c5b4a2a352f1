import * as tf from '@tensorflow/tfjs-core';
import { expect } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';

const STEP = 1e-5;

export function expectClose(
  got: ArrayLike<number>,
  expected: ArrayLike<number>,
  absolute = 1e-5,
  relative = 1e-4,
): void {
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < got.length; i++) {
    const error = Math.abs((got[i] as number) - (expected[i] as number));
    expect(error, `number ${i}: ${got[i]} for ${expected[i]}`).toBeLessThanOrEqual(
      absolute + relative * Math.abs(expected[i] as number),
    );
  }
}

/** Slopes of `sum_i dy_i f_i(x)` by each x, as central differences. */
export function estimateSlopes(f: (x: number[]) => number[], x: readonly number[], dy: readonly number[]): number[] {
  const sumMoved = (moved: number[]) => f(moved).reduce((sum, value, i) => sum + value * (dy[i] as number), 0);
  return x.map((value, i) => (sumMoved(x.with(i, value + STEP)) - sumMoved(x.with(i, value - STEP))) / (2 * STEP));
}

/**
 * Asserts that an op and its gradient equal a function of plain numbers and its gradient.
 *
 * @param host the op in float64
 */
export async function expectDifferentiable(
  op: (x: tf.Tensor) => tf.Tensor,
  host: (x: number[]) => number[],
  x: readonly number[],
  shape: number[],
): Promise<void> {
  const input = tf.tensor([...x], shape);
  const expected = host([...x]);
  const stream = createRandom(7, 'sample gradient');
  const dy = expected.map(() => stream.drawNormal());
  const value = op(input);
  const weights = tf.tensor(dy, value.shape);
  const gradient = tf.grad(op)(input, weights);
  try {
    expectClose(await value.data(), expected);
    expectClose(await gradient.data(), estimateSlopes(host, x, dy), 2e-5, 2e-4);
  } finally {
    tf.dispose([input, value, weights, gradient]);
  }
}
