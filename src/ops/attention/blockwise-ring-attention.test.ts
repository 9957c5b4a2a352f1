import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { findWorstRowError } from './attention-row.oracle.ts';
import { blockwiseRingAttention } from './blockwise-ring-attention.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';

// More turns than a block has queries, and than two have keys.
const [TURNS, D, V] = [1103, 3, 5];
const SAMPLE = [0, 1, 510, 511, 512, 700, 1023, 1024, 1025, 1101, 1102];
const source = createRandom(11, 'blockwise-ring-attention.test');
const drawNormals = (width: number) => Float32Array.from({ length: TURNS * width }, () => source.drawNormal());
const rows = { turns: TURNS, queries: drawNormals(D), keys: drawNormals(D), values: drawNormals(V) };

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([
    {},
    { decay: 0, self: 'exclude' },
    { direction: 'causal', self: 'exclude', combine: 'additive', decay: 0.01 },
    { direction: 'anticausal', topology: 'line', temperature: 1 },
    { direction: 'causal', decay: 0.001, temperature: 0.05 },
  ] as const)('blocks of keys add up: %j', async (changed) => {
    const options = { ...RING_ATTENTION_DEFAULTS, ...changed };
    const before = tf.memory().numTensors;
    const output = await blockwiseRingAttention(rows, options);
    expect(tf.memory().numTensors).toBe(before);
    expect(findWorstRowError(output, rows, options, SAMPLE)).toBeLessThan(5e-5);
  });

  test('a query without a key is zero, wherever its block starts', async () => {
    const options = { ...RING_ATTENTION_DEFAULTS, direction: 'anticausal', self: 'exclude' } as const;
    const output = await blockwiseRingAttention(rows, options);
    expect([...output.subarray(-V)]).toEqual(Array(V).fill(0));
    expect(output.subarray(-2 * V, -V)).toEqual(rows.values.subarray(-V)); // sees the last turn alone
  });
});
