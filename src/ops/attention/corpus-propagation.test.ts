import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { prefersPlainProducts, useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { buildConversationTurns } from '../../model/turns/conversations.fixture.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { findWorstRowError, propagateReference } from './attention-row.oracle.ts';
import { packConversations } from './attention-rows.ts';
import { packedRingAttention, propagateCorpus } from './corpus-propagation.ts';
import { PROPAGATION_PRESETS, type PropagationOptions, RING_ATTENTION_DEFAULTS } from './options.ts';

const D = 7;
const LENGTHS = [1, 2, 137, 5, 31, 1, 59, 397, 2, 13];
const source = createRandom(10, 'corpus-propagation.test');
const corpus = buildConversationTurns(LENGTHS, () => 1000 * source.integer(997));
const embeddings = Float32Array.from({ length: corpus.size * D }, () => source.drawNormal());
embeddings.fill(0, 3 * D, 4 * D);

/** Corpus positions of a conversation's turns in the order of time, which the corpus is in. */
const members = corpus.conversations.map((_, conversation) =>
  [...corpus.turns.keys()].filter((position) => corpus.conversationOf[position] === conversation),
);

/** The largest difference to each conversation propagated by itself, in float64. */
function findWorstPropagation(vectors: Float32Array, options: PropagationOptions): number {
  let worst = 0;
  for (const positions of members) {
    const rows = gatherRows(embeddings, D, positions);
    for (const [i, position] of positions.entries())
      for (const [d, value] of propagateReference(rows, positions.length, options, i).entries())
        worst = Math.max(worst, Math.abs(value - (vectors[position * D + d] as number)));
  }
  return worst;
}

const CASES: readonly (readonly [string, PropagationOptions])[] = [
  ['framework', PROPAGATION_PRESETS.framework],
  ['framework, causal line', { ...PROPAGATION_PRESETS.framework, topology: 'line', direction: 'causal' }],
  ['published', PROPAGATION_PRESETS.published],
  [
    'published, anticausal, self excluded',
    { ...PROPAGATION_PRESETS.published, direction: 'anticausal', self: 'exclude' },
  ],
];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(CASES)('%s: every conversation as if it were alone', async (_, options) => {
    const before = tf.memory().numTensors;
    const { vectors, conversations, errorBound } = await propagateCorpus(corpus, embeddings, options);
    expect(tf.memory().numTensors).toBe(before);
    // Where blocks are large, packing them all is cheaper.
    const plain = prefersPlainProducts();
    expect(conversations).toEqual(plain ? { packed: 8, dense: 1, banded: 1 } : { packed: 10, dense: 0, banded: 0 });
    expect(errorBound > 0).toBe(plain);
    expect(errorBound).toBeLessThanOrEqual(1e-6);
    expect(findWorstPropagation(vectors, options)).toBeLessThan(5e-5);
  });
});

test('an empty corpus', async () => {
  const { vectors } = await propagateCorpus(new Corpus([]), new Float32Array(0), PROPAGATION_PRESETS.framework);
  expect(vectors).toHaveLength(0);
});

test('says how far it is', async () => {
  await useBackend('wasm');
  const done: number[] = [];
  const remarks: (string | undefined)[] = [];
  const expectProgress = (stage: string, total: number) => {
    expect([stage, total]).toEqual(['propagation', LENGTHS.length]);
    return { update: (count: number) => void done.push(count), finish: (text?: string) => void remarks.push(text) };
  };
  await propagateCorpus(corpus, embeddings, PROPAGATION_PRESETS.framework, { progress: expectProgress });
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  expect(done.at(-1)).toBe(LENGTHS.length);
  expect(remarks).toEqual(['8 packed, 1 dense, 1 banded']);
});

test('refuses embeddings of another corpus, numbers that are not finite, and a negative tolerance', async () => {
  const before = tf.memory().numTensors;
  const propagate = (rows: Float32Array, tolerance = 1e-6) =>
    propagateCorpus(corpus, rows, PROPAGATION_PRESETS.framework, { tolerance });
  await expect(propagate(embeddings.subarray(1))).rejects.toThrow('embeddings of the corpus: expected 648 rows');
  await expect(propagate(embeddings.with(5, Number.NaN))).rejects.toThrow('is not finite at row');
  await expect(propagate(embeddings, -1)).rejects.toThrow('tolerance is negative: -1');
  expect(tf.memory().numTensors).toBe(before);
});

test('packs are full of conversations of about the same length, and a longer one is alone', () => {
  expect(packConversations([2, 7, 13, 3, 11, 2, 1], 13)).toEqual([[2], [4], [1, 3, 0], [5, 6]]);
  expect(packConversations([17, 13, 0], 13)).toEqual([[0], [1, 2]]);
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
