import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { registerGradients } from '../../core/tensors/gradients.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { expectClose, expectDifferentiable } from './gradient.oracle.ts';
import { createLinearModel, withGradient } from './linear-model.ts';
import type { ScoringModel } from './model.ts';
import { computeValueAndGradients, TrainingObjective } from './objective.ts';
import { fitStandardisation } from './standardisation.ts';

const [Q, C, F] = [13, 5, 3];
const signals = ['a', 'b', 'c'];
const table = drawHandmadeTable({ queries: Q, candidates: C, clusters: 3, signals, seed: 7 });
table.grades.fill(0, 0, C); // the first query says nothing
const standardisation = fitStandardisation(table, signals);
const model = createLinearModel({ signals, nonNegative: ['c'], initial: {} }, standardisation);
const loss = { name: 'listwise', temperature: 1 } as const;

/** Mean cross-entropy over the queries that have grades, with all of it written out. */
function computeDefinedLoss([a, b, c]: number[]): number {
  const weights = [a!, b!, Math.log(1 + Math.exp(c!))];
  let total = 0;
  for (let q = 1; q < Q; q++) {
    const scores = Array.from({ length: C }, (_, place) =>
      weights.reduce((sum, weight, f) => {
        const value = table.values[(q * C + place) * F + f]!;
        return sum + (weight * (value - standardisation.means[f]!)) / standardisation.deviations[f]!;
      }, 0),
    );
    const powers = scores.reduce((sum, score) => sum + Math.exp(score), 0);
    for (const [place, score] of scores.entries())
      total -= (table.grades[q * C + place]! / 3) * Math.log(Math.exp(score) / powers);
  }
  return total / (Q - 1);
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('loss and gradient are those of the definition, by the free numbers', async () => {
    const theta = [0.7, -1.3, 0.2];
    const objective = new TrainingObjective(model, table, loss);
    const { loss: got, gradient } = await objective.computeLossAt(Float64Array.from(theta));
    objective.dispose();
    expect(objective.used).toBe(Q - 1);
    expect(got).toBeCloseTo(computeDefinedLoss(theta), 5);
    const slopes = theta.map(
      (x, i) => (computeDefinedLoss(theta.with(i, x + 1e-5)) - computeDefinedLoss(theta.with(i, x - 1e-5))) / 2e-5,
    );
    expectClose(gradient, slopes);
  });

  test('a loss that is no number is an error', async () => {
    const objective = new TrainingObjective(model, table, loss);
    await expect(objective.computeLossAt(Float64Array.of(Number.NaN, 0, 0))).rejects.toThrow(
      /loss or its gradient is not finite at parameters NaN,0,0/,
    );
    objective.dispose();
  });

  test('what cannot be uploaded leaves nothing behind', () => {
    const failing: ScoringModel = {
      ...model,
      upload() {
        throw new Error('no memory');
      },
    };
    const before = tf.memory().numTensors;
    expect(() => new TrainingObjective(failing, table, loss)).toThrow('no memory');
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);
  beforeAll(registerGradients);

  test('are those of the function, by each input', async () => {
    const [a, b] = [tf.tensor1d([2, 3]), tf.tensor1d([5, 7])];
    const result = scoped('sample', () => {
      const { value, grads } = computeValueAndGradients((x, y) => tf.mul(x!, tf.exp(y!)), [a, b], tf.tensor1d([1, 10]));
      return [value, ...grads];
    });
    const [value, byA, byB] = await Promise.all(result.map((tensor) => tensor.array() as Promise<number[]>));
    const powers = [Math.exp(5), Math.exp(7)] as const;
    for (const [i, factor] of [1, 10].entries()) {
      const x = [2, 3][i]!;
      expect(value![i]! / (x * powers[i]!)).toBeCloseTo(1, 5);
      expect(byA![i]! / (factor * powers[i]!)).toBeCloseTo(1, 5);
      expect(byB![i]! / (factor * x * powers[i]!)).toBeCloseTo(1, 5);
    }
    tf.dispose([a, b, ...result]);
  });

  test('a way back that fails leaves nothing behind', () => {
    const x = tf.tensor1d([1, 3]);
    const failInGradient = (given: tf.Tensor) =>
      withGradient(tf.mul(given, 2), (own) => ({
        value: tf.square(own),
        saved: [own],
        gradient: () => {
          throw new Error('no slope');
        },
      }));
    const differentiateFailing = () =>
      scoped('sample', () => computeValueAndGradients((y) => failInGradient(y!), [x], tf.ones([2])).value);
    expect(differentiateFailing).toThrow('no slope');
    expect(differentiateFailing).toThrow('no slope');
    x.dispose();
  });
});

const MATRIX = [0.3, -1.1, 0.7, 1.9, -0.4, 0.2];
const ROW = [2.1, -0.7, 1.3];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);
  beforeAll(registerGradients);

  /** f(x, row) with a row that is repeated for every row of [2, 3]; the slope by either operand. */
  const cases: [string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor, (a: number, b: number) => number][] = [
    ['add', tf.add, (a, b) => a + b],
    ['sub', tf.sub, (a, b) => a - b],
    ['mul', tf.mul, (a, b) => a * b],
    ['div', tf.div, (a, b) => a / b],
  ];
  test.each(cases)('%s by its first operand and by one that is repeated', async (_, op, host) => {
    await expectDifferentiable(
      (x) => scoped('op', () => op(x, tf.tensor1d(ROW))),
      (x) => x.map((value, i) => host(value, ROW[i % 3]!)),
      MATRIX,
      [2, 3],
    );
    await expectDifferentiable(
      (row) => scoped('op', () => op(tf.tensor2d(MATRIX, [2, 3]), row)),
      (row) => MATRIX.map((value, i) => host(value, row[i % 3]!)),
      ROW,
      [3],
    );
  });

  test('one number for all', async () => {
    await expectDifferentiable(
      (x) => scoped('op', () => tf.mul(tf.tensor2d(MATRIX, [2, 3]), x)),
      ([x]) => MATRIX.map((value) => value * x!),
      [1.7],
      [1],
    );
  });

  test.each([
    ['exp', tf.exp, Math.exp],
    ['sqrt', (x: tf.Tensor) => scoped('op', () => tf.sqrt(tf.mul(x, x))), Math.abs],
  ] as const)('%s', async (_, op, host) => {
    await expectDifferentiable(op as (x: tf.Tensor) => tf.Tensor, (x) => x.map(host), MATRIX, [2, 3]);
  });

  test('sums along an axis, and of all', async () => {
    const sumRowsByHand = (x: number[]) => [0, 3].map((at) => x[at]! + x[at + 1]! + x[at + 2]!);
    await expectDifferentiable((x) => tf.sum(x, 1), sumRowsByHand, MATRIX, [2, 3]);
    await expectDifferentiable((x) => tf.sum(x, -1, true), sumRowsByHand, MATRIX, [2, 3]);
    await expectDifferentiable(
      (x) => tf.sum(x),
      (x) => [sumRowsByHand(x)[0]! + sumRowsByHand(x)[1]!],
      MATRIX,
      [2, 3],
    );
  });
});
