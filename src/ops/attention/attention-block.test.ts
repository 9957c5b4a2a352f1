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

/** Runs some work while the exponentials of more than one number are two units in the last place too large, as those of libtensorflow may be. */
async function withRoughPowers<T>(work: () => Promise<T>): Promise<T> {
  const engine = tf.engine();
  const { runKernel: before } = engine;
  const runKernel = before.bind(engine) as (name: string, ...parameters: unknown[]) => tf.Tensor;
  const isRough = (name: string, ...parameters: unknown[]): tf.Tensor => {
    const result = runKernel(name, ...parameters);
    return name === 'Exp' && result.size > 1 ? tf.mul(result, 1 + 2 ** -22) : result;
  };
  Object.assign(engine, { runKernel: isRough });
  try {
    return await work();
  } finally {
    Object.assign(engine, { runKernel: before }); // which counts
  }
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([0, 1] as const)('weighted values, their mass, the largest logit; baseline %d', async (baseline) => {
    const before = tf.memory().numTensors;
    const got = await computeAttentionBlock(block, baseline);
    expect(tf.memory().numTensors).toBe(before);
    const computeRowMass = (logits: number[]) => {
      const largest = Math.max(...logits);
      const powers = logits.map((logit) => (Math.exp(logit) - baseline) / Math.exp(largest));
      const weighted = powers.reduce((sum, power, j) => sum + power * ([2, 3, 5][j] as number), 0);
      return [weighted, powers.reduce((a, b) => a + b), largest];
    };
    const expected = [...computeRowMass([1, 1, 0]), ...computeRowMass([0, 2, 0])];
    expect(got).toHaveLength(expected.length);
    for (const [i, value] of expected.entries()) expect(got[i]).toBeCloseTo(value, 5);
  });

  test('keys of logit 0 add nothing where exponentials of a matrix and of a column differ in the last bit', async () => {
    const near = new Float32Array(101);
    near[0] = 1;
    const oneNear: AttentionBlock = {
      queries: Float32Array.of(1),
      keys: near,
      values: near.map((cosine) => 1 - cosine), // the keys of logit 0 have one
      terms: { slope: near.map((cosine) => 3 * cosine), offset: new Float32Array(101), columns: 101 },
    };
    const [weighted, mass] = await withRoughPowers(() => computeAttentionBlock(oneNear, 1));
    expect(weighted).toBe(0);
    expect(mass).toBeCloseTo(1 - Math.exp(-3), 5);
  });

  test('nothing leaks when it throws half-way', async () => {
    const before = tf.memory().numTensors;
    const wider = { ...block, keys: new Float32Array(9) };
    await expect(computeAttentionBlock(wider, 0)).rejects.toThrow(DimensionMismatchError);
    const longer = { ...block, values: new Float32Array(4) };
    await expect(computeAttentionBlock(longer, 0)).rejects.toThrow();
    expect(tf.memory().numTensors).toBe(before);
  });

  test('blocks are smaller the wider their rows are', () => {
    const rows = [0, 7, 512, 4096].map(chooseBlockRows);
    expect(rows).toEqual(prefersPlainProducts() ? [128, 128, 64, 16] : [2048, 1024, 512, 256]);
  });
});
