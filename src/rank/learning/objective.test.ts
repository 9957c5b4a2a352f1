import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { expectClose } from './gradient.oracle.ts';
import { createLinearModel } from './linear-model.ts';
import type { ScoringModel } from './model.ts';
import { TrainingObjective } from './objective.ts';
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
