import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { constrainTensors } from './device-parameters.ts';
import { CONSTRAINTS, type ConstraintName, constrainValues, type Parametric, pullBackGradient } from './parameters.ts';

const describeParameter = (name: ConstraintName, count: number) => ({
  name,
  labels: Array.from({ length: count }, (_, i) => `${name} ${i}`),
  constraint: name,
  initial: new Array<number>(count).fill(0),
  uniform: new Array<number>(count).fill(0),
  range: [0, 1] as const,
});
const names = Object.keys(CONSTRAINTS) as ConstraintName[];
const singles = names.map((name): Parametric => ({ parameters: [describeParameter(name, 5)] }));
const all: Parametric = { parameters: names.map((name, i) => describeParameter(name, i + 2)) };
/** Also where an exponential is too large for float32, and where a sum of 1 loses a small one. */
const THETA = [-100, -17.5, -3.25, 0, 0.75, 100, 8, -0.5, 1.5, 2, -1, 0.25, -9, 6];
const GRADIENT = [2, -3, 5, -7, 11, -13, 0.5, 17, -19, 23, -29, 31, 37, -41];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test.each([...singles.map((model, i) => [names[i], model] as const), ['all', all] as const])(
    'values and gradients are those of the host: %s',
    async (_, model) => {
      const count = model.parameters.reduce((sum, { labels }) => sum + labels.length, 0);
      const [theta, gradient] = [THETA.slice(0, count), GRADIENT.slice(0, count)];
      const { values, slopes } = scoped('sample', () => {
        const constrained = constrainTensors(model, tf.tensor1d(theta));
        const parts = model.parameters.length === 1 ? [count] : model.parameters.map(({ labels }) => labels.length);
        const slopes = constrained.pullBack(tf.split(tf.tensor1d(gradient), parts));
        return { values: tf.concat(constrained.values), slopes };
      });
      const expectEqual = async (found: tf.Tensor, expected: Float64Array) => {
        const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
        for (const [i, value] of (await found.data()).entries())
          expect(Math.abs(value - expected[i]!), `${i}: ${value}, ${expected[i]}`).toBeLessThan(1e-6 * largest);
        found.dispose();
      };
      await expectEqual(values, constrainValues(model, Float64Array.from(theta)));
      await expectEqual(slopes, pullBackGradient(model, Float64Array.from(theta), Float64Array.from(gradient)));
    },
  );
});
