import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import { createEncoder } from '../../index/encoders/registry.ts';
import type { Encoder } from '../../model/encoder.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { askArm } from './ask.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-ask-vectors-'));
const lsa = { encoder: 'lsa', dimension: 13 } as const;
const text = 'violin bow';
let encoder: Encoder;
let own: Plain;

const search = { bm25: { k: 19 } };
const mix = { signals: { groups: ['text'], encoders: [{ ...lsa, dimension: 7 }] }, weights: { 'cosine.lsa': 1 } };
const ARMS = {
  words: [{ search }],
  cosine: [{ search: { flat: { k: 19 } } }],
  decayed: { from: 'words', then: [{ decay: {} }], tune: { 'decay.halfLifeHours': [12, 96] } },
  'after cosine': { from: 'cosine', set: { search } },
  perhaps: {
    steps: [{ search }, { score: { cosine: {} } }, { fuse: { only: 'bm25' } }],
    tune: { 'fuse.only': ['bm25', 'cosine'] },
  },
  'after perhaps': { from: 'perhaps', then: [{ decay: {} }] },
  'two encoders': [{ search }, { mix }],
};

function askWith(embedding: Plain, arm: string, vector: readonly number[] | null = null, session?: string) {
  const raw = {
    ...buildSampleConfig(root),
    embedding,
    arms: ARMS,
    evaluation: { baseline: 'words', metrics: ['mrr@10'] },
  };
  const config = resolveConfig(raw as unknown as Plain, 'vectors');
  const question = { text, vector: vector === null ? null : [...vector], ...(session && { session }) };
  return askArm(config, arm, question, { cacheFolder: null });
}

/** Vectors of all turns and queries, as the experiment makes them with its encoder. */
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(root);
  const options = { name: 'jsonl', path: root, onDirtyRow: 'error', relevantGrade: 1 } as const;
  const { corpus, queries, devConversations } = await loadDataset(options, { cacheFolder: null });
  const fitTexts = corpus.turns.flatMap((turn) => (devConversations.has(turn.conversationId) ? [turn.text] : []));
  encoder = await createEncoder(lsa, { fitTexts, seed: 3 });
  const rows = [...corpus.turns, ...queries];
  const data = await encoder.encode(rows.map((row) => row.text));
  const path = join(root, 'own.safetensors');
  const ids = JSON.stringify(rows.map(({ id }) => id));
  writeSafetensors(path, { tensors: { vectors: { shape: [rows.length, 13], data } }, metadata: { ids } });
  own = { encoder: 'precomputed', turns: path };
});
afterAll(() => {
  encoder.dispose();
  rmSync(root, { recursive: true });
});

describe('an arm that compares vectors', () => {
  test('ranks by the vector of the question as by the encoder that made it', async () => {
    const vector = await encoder.encode([text]);
    const { ranking } = await askWith(lsa, 'cosine');
    expect(ranking.length).toBeGreaterThan(5);
    expect((await askWith(own, 'cosine', [...vector])).ranking).toEqual(ranking);
    expect((await askWith(lsa, 'cosine', [...vector])).ranking).toEqual(ranking);
    // Of any length: halves and doubles of a float32 are exact.
    expect((await askWith(own, 'cosine', [...vector.map((value) => value * 8)])).ranking.map(({ id }) => id)).toEqual(
      ranking.map(({ id }) => id),
    );
    const other = await askWith(own, 'cosine', [...vector.map((value) => -value)]);
    expect(other.ranking[0]?.id).not.toBe(ranking[0]?.id);
    expect((await askWith(own, 'cosine', [...vector], 'c2')).ranking.every(({ id }) => id.startsWith('t2-'))).toBe(
      true,
    );
  });

  test.each(['cosine', 'perhaps', 'after perhaps'])(
    '%s names what to give instead of a missing vector',
    async (arm) => {
      await expect(askWith(own, arm)).rejects.toThrow(UnavailableError);
      await expect(askWith(own, arm)).rejects.toThrow(
        `arm ${arm} compares vectors, and encoder precomputed has those of turns and queries alone; pass --vector`,
      );
      expect((await askWith(own, arm, [...(await encoder.encode([text]))])).prompt).toContain('violin');
    },
  );

  test('refuses a vector of another dimension, and numbers that are none', async () => {
    await expect(askWith(own, 'cosine', [1, 2])).rejects.toThrow(DimensionMismatchError);
    await expect(askWith(lsa, 'cosine', [1, 2])).rejects.toThrow('expected 13, got 2');
    await expect(askWith(own, 'cosine', [])).rejects.toThrow('vector');
    await expect(askWith(own, 'cosine', [Number.NaN])).rejects.toThrow('vector[0]');
    await expect(askWith(own, 'cosine', Array(13).fill(1e300))).rejects.toThrow('vector[0]');
  });
});

test('a vector is refused where a signal has an encoder of its own, which would embed the question', async () => {
  const vector = [...(await encoder.encode([text]))];
  const asking = askWith(lsa, 'two encoders', vector);
  await expect(asking).rejects.toThrow(ValidationError);
  await expect(asking).rejects.toThrow(
    'arm two encoders has a signal with an encoder of its own, for which the vector of the question is not: lsa; leave out --vector',
  );
  expect((await askWith(lsa, 'two encoders')).prompt).toContain('violin');
});

test.each(['words', 'decayed', 'after cosine'])(
  '%s embeds nothing, so that its question needs no vector',
  async (arm) => {
    const path = join(root, 'turns.npy');
    writeFileSync(path, 'vectors that no arm of words reads');
    const unread = { encoder: 'precomputed', turns: path, queries: path };
    const { prompt, ranking } = await askWith(unread, arm);
    expect(prompt).toContain('violin');
    expect((await askWith(lsa, arm)).ranking).toEqual(ranking);
    expect((await askWith(unread, arm, [1])).ranking.map(({ id }) => id)).toEqual(ranking.map(({ id }) => id));
  },
);
