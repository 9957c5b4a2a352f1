import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { buildConversationTurns } from '../../model/turns/conversations.fixture.ts';
import { propagateReference } from './attention-row.oracle.ts';
import type { PropagationOptions } from './options.ts';
import { PROPAGATION_PRESETS } from './presets.ts';
import { type PropagatedVersions, propagateVersions } from './versioned-propagation.ts';

const D = 7;
const LENGTHS = [1, 2, 5, 13, 59];
const source = createRandom(8, 'versioned-propagation.test');
const corpus = buildConversationTurns(LENGTHS, () => 1000 * source.integer(997));
const rows = Array.from({ length: corpus.size }, () => {
  const row = Array.from({ length: D }, () => source.drawNormal());
  return row.map((x) => x / Math.hypot(...row));
});
rows[13] = Array(D).fill(0);
const embeddings = Float32Array.from(rows.flat());
const cutoffs = Int32Array.from({ length: 19 }, () => source.integer(corpus.size + 1));

/** Places and vectors of a conversation's turns before a cutoff, by the cutoff and conversation. */
const prefixes = [...cutoffs].flatMap((cutoff) =>
  LENGTHS.map((_, conversation) => {
    const members = [...corpus.turns.keys()].filter(
      (position) => position < cutoff && corpus.conversationOf[position] === conversation,
    );
    return { cutoff, members, vectors: gatherRows(embeddings, D, members) };
  }),
);

function findWorstVersion(
  { positions, validFrom, validTo, vectors }: PropagatedVersions,
  options: PropagationOptions,
): number {
  const versionsOf = corpus.turns.map((_, position) => [...positions.keys()].filter((i) => positions[i] === position));
  let worst = 0;
  for (const { cutoff, members, vectors: prefix } of prefixes) {
    for (const [place, position] of members.entries()) {
      const expected = propagateReference(prefix, members.length, options, place);
      const isValid = (i: number) => (validFrom[i] as number) <= cutoff && cutoff < (validTo[i] as number);
      const valid = (versionsOf[position] as number[]).filter(isValid);
      expect(valid).toHaveLength(1);
      for (let d = 0; d < D; d++)
        worst = Math.max(worst, Math.abs((expected[d] as number) - (vectors[(valid[0] as number) * D + d] as number)));
    }
  }
  return worst;
}

const CASES: readonly (readonly [string, PropagationOptions])[] = [
  ['framework', PROPAGATION_PRESETS.framework],
  ['framework, causal ring', { ...PROPAGATION_PRESETS.framework, direction: 'causal' }],
  ['framework, anticausal ring', { ...PROPAGATION_PRESETS.framework, direction: 'anticausal' }],
  ['framework, line', { ...PROPAGATION_PRESETS.framework, topology: 'line' }],
  ['published', PROPAGATION_PRESETS.published],
  ['published, causal line', { ...PROPAGATION_PRESETS.published, topology: 'line', direction: 'causal' }],
];

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(CASES)('%s: every turn at every cutoff equals the whole propagation of its prefix', async (_, options) => {
    const before = tf.memory().numTensors;
    const versions = await propagateVersions(corpus, embeddings, cutoffs, options);
    expect(tf.memory().numTensors).toBe(before);
    expect(findWorstVersion(versions, options)).toBeLessThan(2e-5);
  });

  test('so it does in batches of a few versions', async () => {
    const options = PROPAGATION_PRESETS.published;
    const versions = await propagateVersions(corpus, embeddings, cutoffs, options, { batchNumbers: 331 });
    expect(findWorstVersion(versions, options)).toBeLessThan(2e-5);
  });
});

describe('which versions there are', () => {
  beforeAll(() => useBackend('cpu'));
  const all = Int32Array.from({ length: corpus.size + 1 }, (_, c) => c);
  const count = async (options: PropagationOptions, at: Int32Array, tolerance?: number) =>
    (await propagateVersions(corpus, embeddings, at, options, tolerance === undefined ? {} : { tolerance })).positions
      .length;
  const triangle = LENGTHS.reduce((sum, n) => sum + (n * (n + 1)) / 2, 0);

  test('all of them where far turns never fade', async () => {
    expect(await count(PROPAGATION_PRESETS.published, all)).toBe(triangle);
  });

  test('those within reach of a newcomer where they do, fewer the less is asked', async () => {
    const fine = await count(PROPAGATION_PRESETS.framework, all);
    const coarse = await count(PROPAGATION_PRESETS.framework, all, 1e-2);
    expect(fine).toBeLessThan(triangle);
    expect(coarse).toBeLessThan(fine);
  });

  test('one a turn where no later turn matters', async () => {
    expect(await count({ ...PROPAGATION_PRESETS.published, topology: 'line', direction: 'causal' }, all)).toBe(
      corpus.size,
    );
  });

  test('only those that a cutoff needs', async () => {
    const { positions, validFrom } = await propagateVersions(
      corpus,
      embeddings,
      Int32Array.of(41),
      PROPAGATION_PRESETS.framework,
    );
    expect([...positions].sort((a, b) => a - b)).toEqual(Array.from({ length: 41 }, (_, i) => i));
    expect([...validFrom]).toEqual([...validFrom].sort((a, b) => a - b));
    expect(await count(PROPAGATION_PRESETS.framework, new Int32Array(0))).toBe(0);
    expect(await count(PROPAGATION_PRESETS.framework, Int32Array.of(0))).toBe(0);
  });

  test('none for embeddings of another corpus', async () => {
    const bad = embeddings.subarray(1);
    await expect(propagateVersions(corpus, bad, all, PROPAGATION_PRESETS.framework)).rejects.toThrow(
      'embeddings of the corpus: expected 80 rows of one width, got 559 numbers',
    );
  });
});
