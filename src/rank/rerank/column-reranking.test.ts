import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { rerankByColumn } from './column-reranking.ts';

const [B, C, K] = [3, 11, 7];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([0, 0.3, 1])('orders by the mix of shares with weight %d, equal ones by place', async (weight) => {
    const random = createRandom(5, `column-reranking ${weight}`);
    const draw = () => Array.from({ length: B }, () => Array.from({ length: C }, () => random.integer(5)));
    const [relevance, column] = [draw(), draw()];
    const isPresent = relevance.map((row, b) => row.map((_, c) => (b + c) % 4 > 0));
    const inputs = {
      relevance: tf.tensor2d(relevance),
      column: tf.tensor2d(column),
      similarities: tf.zeros([B, C, C]) as tf.Tensor3D,
      mask: tf.tensor2d(isPresent, [B, C], 'bool'),
    };
    const before = tf.memory().numTensors;
    const { slots, scores } = rerankByColumn(inputs, { weight, k: K });
    expect(tf.memory().numTensors).toBe(before + 2);
    const [places, values] = [await slots.array(), await scores.array()];
    for (let b = 0; b < B; b++) {
      const present = Array.from({ length: C }, (_, c) => c).filter((c) => isPresent[b]?.[c]);
      const share = (rows: number[][], c: number) => {
        const largest = Math.max(...present.map((other) => rows[b]?.[other] as number));
        return largest === 0 ? 0 : (rows[b]?.[c] as number) / largest;
      };
      const mix = new Map(present.map((c) => [c, (1 - weight) * share(relevance, c) + weight * share(column, c)]));
      const rounded = (c: number) => Math.round((mix.get(c) as number) * 1e5);
      const expected = present.sort((x, y) => rounded(y) - rounded(x) || x - y).slice(0, K);
      expect(places[b]).toEqual(expected);
      for (const [i, c] of expected.entries()) expect(values[b]?.[i]).toBeCloseTo(mix.get(c) as number, 5);
    }
    tf.dispose([inputs.relevance, inputs.column, inputs.similarities, inputs.mask, slots, scores]);
  });
});
