import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { findWorstRowError } from './attention-row.oracle.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';
import { packConversations, packedRingAttention } from './packed-attention.ts';

test('packs are full of conversations of about the same length, and none is too full', () => {
  expect(packConversations([2, 7, 13, 3, 11, 2, 1], 13)).toEqual([
    { conversations: [2], turns: 13 },
    { conversations: [4], turns: 11 },
    { conversations: [1, 3, 0], turns: 12 },
    { conversations: [5, 6], turns: 3 },
  ]);
  expect(packConversations([17, 13, 0], 13)).toEqual([{ conversations: [1, 2], turns: 13 }]);
  expect(packConversations([], 13)).toEqual([]);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));
  const D = 5;
  const lengths = [11, 1, 7, 2];
  const source = createRandom(4, 'packed-attention.test');
  const embeddings = Float32Array.from({ length: 21 * D }, () => source.drawNormal());

  test.each([
    {},
    { direction: 'causal', self: 'exclude' },
    { combine: 'additive', topology: 'line', direction: 'anticausal' },
  ] as const)('each conversation sees itself alone: %j', async (changed) => {
    const options = { ...RING_ATTENTION_DEFAULTS, ...changed };
    const before = tf.memory().numTensors;
    const output = await packedRingAttention(embeddings, lengths, options);
    expect(tf.memory().numTensors).toBe(before);
    let start = 0;
    for (const turns of lengths) {
      const rows = embeddings.subarray(start * D, (start + turns) * D);
      const inputs = { turns, queries: rows, keys: rows, values: rows };
      const got = output.subarray(start * D, (start + turns) * D);
      expect(findWorstRowError(got, inputs, options, Array(turns).keys())).toBeLessThan(5e-5);
      start += turns;
    }
  });

  test('refuses what is not finite, without a leak', async () => {
    const before = tf.memory().numTensors;
    const bad = embeddings.with(2 * D, Number.NaN);
    await expect(packedRingAttention(bad, lengths, RING_ATTENTION_DEFAULTS)).rejects.toThrow(
      'embeddings is not finite at row 2: NaN',
    );
    expect(tf.memory().numTensors).toBe(before);
  });
});
