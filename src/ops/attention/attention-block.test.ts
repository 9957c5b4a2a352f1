import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { prefersPlainProducts, useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { type AttentionBlock, chooseBlockRows, computeAttentionBlock } from './attention-block.ts';

// Two queries, three keys: cosines 1, 0, -1 and 0, 1, 0.
const block: AttentionBlock = {
  queries: Float32Array.of(1, 0, 0, 1),
  keys: Float32Array.of(1, 0, 0, 1, -1, 0),
  values: Float32Array.of(2, 3, 5),
  terms: { slope: Float32Array.of(1, 1, 1, 2, 2, 0), offset: Float32Array.of(0, 1, 1, 0, 0, 0), columns: 3 },
};

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('weighted values, their mass, the largest logit', async () => {
    const before = tf.memory().numTensors;
    const got = await computeAttentionBlock(block);
    expect(tf.memory().numTensors).toBe(before);
    const computeRowMass = (logits: number[]) => {
      const largest = Math.max(...logits);
      const powers = logits.map((logit) => Math.exp(logit - largest));
      const weighted = powers.reduce((sum, power, j) => sum + power * ([2, 3, 5][j] as number), 0);
      return [weighted, powers.reduce((a, b) => a + b), largest];
    };
    const expected = [...computeRowMass([1, 1, 0]), ...computeRowMass([0, 2, 0])];
    expect(got).toHaveLength(expected.length);
    for (const [i, value] of expected.entries()) expect(got[i]).toBeCloseTo(value, 5);
  });

  test('nothing leaks when it throws half-way', async () => {
    const before = tf.memory().numTensors;
    const wider = { ...block, keys: new Float32Array(9) };
    await expect(computeAttentionBlock(wider)).rejects.toThrow(DimensionMismatchError);
    const longer = { ...block, values: new Float32Array(4) };
    await expect(computeAttentionBlock(longer)).rejects.toThrow();
    expect(tf.memory().numTensors).toBe(before);
  });

  test('blocks are smaller the wider their rows are', () => {
    const rows = [0, 7, 512, 4096].map(chooseBlockRows);
    expect(rows).toEqual(prefersPlainProducts() ? [128, 128, 64, 16] : [2048, 1024, 512, 256]);
  });
});
