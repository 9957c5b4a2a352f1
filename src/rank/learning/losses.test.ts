import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { expectDifferentiable } from './gradient.oracle.ts';
import { computeQueryLosses, type LossOptions, listUsableQueries, uploadLossTargets } from './losses.ts';

const [Q, C] = [5, 7];
const stream = createRandom(11, 'losses.test');
const scores = Array.from({ length: Q * C }, () => 3 * stream.drawNormal());
/** Query 1 has no relevant candidate, query 3 no other, the last two places of query 4 are padding, and a grade of 1 is not relevant. */
const table = {
  ...drawHandmadeTable({ queries: Q, candidates: C, clusters: 2, signals: ['a'], seed: 2 }),
  relevantGrade: 2,
  mask: Uint8Array.from({ length: Q * C }, (_, pair) => Number(pair < Q * C - 2)),
  grades: Float32Array.from(
    [
      [3, 0, 0, 2, 1, 0, 0],
      [0, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 2],
      [2, 3, 2, 2, 4, 2, 2],
      [0, 0, 2, 0, 0, 0, 0],
    ].flat(),
  ),
};

/** The definitions, query by query and candidate by candidate. */
function computeDefinedLosses(x: number[], { name, temperature }: LossOptions): number[] {
  return Array.from({ length: Q }, (_, q) => {
    const pairs = Array.from({ length: C }, (_, c) => q * C + c).filter((pair) => table.mask[pair] === 1);
    const computePairPower = (pair: number) => Math.exp(x[pair]! / temperature);
    const sum = (pairs: number[]) => pairs.reduce((total, pair) => total + computePairPower(pair), 0);
    if (name === 'listwise') {
      const total = pairs.reduce((all, pair) => all + table.grades[pair]!, 0);
      if (total === 0) return 0;
      return pairs.reduce(
        (loss, pair) => loss - (table.grades[pair]! / total) * Math.log(computePairPower(pair) / sum(pairs)),
        0,
      );
    }
    const relevant = pairs.filter((pair) => table.grades[pair]! >= 2);
    const others = pairs.filter((pair) => table.grades[pair]! < 2);
    if (relevant.length === 0 || others.length === 0) return 0;
    const each = relevant.map((pair) => -Math.log(computePairPower(pair) / (computePairPower(pair) + sum(others))));
    return each.reduce((total, loss) => total + loss, 0) / relevant.length;
  });
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test.each([
    { name: 'listwise', temperature: 1 },
    { name: 'listwise', temperature: 0.5 },
    { name: 'infonce', temperature: 1 },
    { name: 'infonce', temperature: 0.7 },
  ] as const)('$name at temperature $temperature is its definition, and so is its gradient', async (options) => {
    const targets = uploadLossTargets(table, options);
    const computeLossOp = (x: tf.Tensor) => computeQueryLosses(x as tf.Tensor2D, targets, options);
    await expectDifferentiable(computeLossOp, (x) => computeDefinedLosses(x, options), scores, [Q, C]);
    tf.dispose([targets.shares, targets.masks]);
  });

  test('scores far apart give finite losses and slopes', async () => {
    const far = tf.tensor2d(
      scores.map((score) => 400 * score),
      [Q, C],
    );
    for (const name of ['listwise', 'infonce'] as const) {
      const options = { name, temperature: 1 };
      const targets = uploadLossTargets(table, options);
      const losses = computeQueryLosses(far, targets, options);
      const slopes = tf.grad((x) => computeQueryLosses(x as tf.Tensor2D, targets, options))(far);
      const expected = computeDefinedLosses(scores, { name, temperature: 1 / 400 });
      for (const [q, loss] of (await losses.data()).entries()) {
        expect(Number.isFinite(loss)).toBe(true);
        if (Number.isFinite(expected[q]!)) expect(loss / 1000).toBeCloseTo(expected[q]! / 1000, 3);
      }
      expect([...(await slopes.data())].every(Number.isFinite)).toBe(true);
      tf.dispose([targets.shares, targets.masks, losses, slopes]);
    }
    far.dispose();
  });

  test('targets of a table in which nothing is relevant are refused', () => {
    const nothing = { ...table, grades: new Float32Array(Q * C) };
    expect(() => uploadLossTargets(nothing, { name: 'listwise', temperature: 1 })).toThrow(
      'none of 5 queries has a relevant candidate to learn from; add queries or candidates',
    );
    expect(() => uploadLossTargets(table, { name: 'infonce', temperature: 0 })).toThrow(
      'temperature of the loss is not positive: 0; pass a number above 0',
    );
  });
});

test('queries that say nothing are left out', () => {
  expect([...listUsableQueries(table, { name: 'listwise' })]).toEqual([0, 2, 3, 4]);
  expect([...listUsableQueries(table, { name: 'infonce' })]).toEqual([0, 2, 4]);
});
