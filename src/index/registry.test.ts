import { beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../core/errors/errors.ts';
import { useBackend } from '../core/tensors/backend.ts';
import { Corpus } from '../model/turns/corpus.ts';
import { createIndex, type IndexOptions, indexOptions } from './registry.ts';

const corpus = new Corpus(
  ['red apples', 'green pears', 'apples and pears'].map((text, i) => ({
    id: `t${i}`,
    conversationId: 'c',
    parentId: i === 0 ? null : `t${i - 1}`,
    timestamp: i,
    author: null,
    channel: null,
    text,
  })),
);
const context = { corpus, vectors: Float32Array.of(1, 0, 0, 1, 0.6, 0.8), dimension: 2, seed: 3 };

beforeAll(async () => void (await useBackend('wasm')));

describe('index registry', () => {
  test('fills in the defaults', () => {
    expect(indexOptions.parse({ index: 'hnsw' })).toEqual({
      index: 'hnsw',
      k: 100,
      m: 32,
      efConstruction: 200,
      efSearch: 128,
    });
    expect(indexOptions.parse({ index: 'bm25', k: 7 })).toEqual({
      index: 'bm25',
      k: 7,
      k1: 1.2,
      b: 0.75,
      variant: 'lucene',
      dropStopWords: false,
      stem: false,
    });
  });

  test.each([
    [{ index: 'flat', m: 7 }, /"m"/],
    [{ index: 'ivf' }, /index/],
    [{ index: 'bm25', variant: 'okapi' }, /bm25\+/],
    [{ index: 'bm25', b: 1.1 }, /"b"/],
    [{ index: 'newest', k: 0 }, /"k"/],
  ])('refuses %j', (options, fault) => {
    expect(indexOptions.safeParse(options).error?.message).toMatch(fault);
  });

  test.each([
    ['flat', [1, 2, 0]],
    ['hnsw', [1, 2, 0]],
    ['bm25', [1, 2, -1]],
    ['newest', [2, 1, 0]],
  ] as const)('makes %s', async (name, expected) => {
    const index = await createIndex(indexOptions.parse({ index: name }), context);
    expect(index.name).toBe(name);
    const batch = { texts: ['green pears'], vectors: Float32Array.of(0, 1), cutoffs: Int32Array.of(3) };
    expect([...(await index.search(batch, 3)).positions]).toEqual(expected);
    index.dispose();
  });

  test.each([
    [{ index: 'ivf' }, /index: expected "flat" or .*, got "ivf"/],
    [{ index: 'flat', k: 1, ef: 3 }, /got unknown key "ef"/],
    [{}, /index: expected .*, got nothing/],
    [null, /expected object, got null/],
  ])('createIndex refuses what no compiler has checked: %j', async (options, fault) => {
    const made = createIndex(options as unknown as IndexOptions, context);
    await expect(made).rejects.toThrow(ConfigurationError);
    await expect(made).rejects.toThrow(fault);
  });

  test('a k for which there is no memory is refused by every index', async () => {
    const batch = {
      texts: ['pears', 'apples', 'red'],
      vectors: Float32Array.of(0, 1, 1, 0, 0, 1),
      cutoffs: Int32Array.of(3, 3, 3),
    };
    for (const name of ['flat', 'hnsw', 'bm25', 'newest']) {
      const index = await createIndex(indexOptions.parse({ index: name }), context);
      await expect(index.search(batch, 1_000_000_000), name).rejects.toThrow(
        /more than \d+ candidates for 3 queries with k 1000000000; /,
      );
      index.dispose();
    }
  });
});
