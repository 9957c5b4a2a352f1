import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { SampleBlobStore } from '../../core/files/blob-store.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createCachedEncoder, type EncoderSource } from './embedding-cache.ts';
import { createEncoderSource } from './registry.ts';
import { fetchVectors, offerVectors } from './shared-vectors.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-shared-vectors-'));
afterAll(() => rmSync(root, { recursive: true }));
beforeAll(() => useBackend('wasm'));
const openFolder = () => mkdtempSync(join(root, 'cache-'));

const TURNS = ['garlic soup', 'onion soup', 'garlic and onion', 'kernel panic', 'kernel driver', 'driver panic soup'];
const QUERIES = ['which soup', 'kernel driver', 'onion'];
const texts = { turns: TURNS, queries: QUERIES };
const source = createEncoderSource(
  { encoder: 'lsa', dimension: 3 },
  { fitTexts: TURNS, seed: 5, listOwners: () => [] },
);
/** An encoder that must not be made: every vector is in the cache. */
const unmade = (of: EncoderSource): EncoderSource => ({ ...of, create: () => Promise.reject(new Error('made')) });

async function encode(of: EncoderSource, folder: string, wanted: readonly string[]): Promise<Float32Array> {
  const encoder = await createCachedEncoder(of, folder);
  try {
    return await encoder.encode(wanted);
  } finally {
    encoder.dispose();
  }
}

describe('vectors of one machine', () => {
  test('are found by another, bit for bit, whose encoder is not made', async () => {
    const [here, there, blobs] = [openFolder(), openFolder(), new SampleBlobStore()];
    const vectors = await encode(source, here, [...TURNS, ...QUERIES]);
    await offerVectors(source, here, texts, blobs);
    expect(blobs.blobs.size).toBe(1);
    await fetchVectors(source, there, texts, blobs);
    expect(await encode(unmade(source), there, [...TURNS, ...QUERIES])).toEqual(vectors);
    blobs.isAway = true;
    const other = openFolder();
    await fetchVectors(source, other, texts, blobs);
    expect(await encode(source, other, [...TURNS, ...QUERIES])).toEqual(vectors);
  });

  test('are added to those that another has', async () => {
    const [here, there, blobs] = [openFolder(), openFolder(), new SampleBlobStore()];
    const vectors = await encode(source, here, [...TURNS, ...QUERIES]);
    await encode(source, there, TURNS.slice(0, 2));
    await offerVectors(source, here, texts, blobs);
    await fetchVectors(source, there, texts, blobs);
    expect(await encode(unmade(source), there, [...TURNS, ...QUERIES])).toEqual(vectors);
  });

  test('are not offered where there is none, and those of other texts are not found', async () => {
    const [here, there, blobs] = [openFolder(), openFolder(), new SampleBlobStore()];
    await offerVectors(source, here, texts, blobs);
    expect(blobs.blobs.size).toBe(0);
    await encode(source, here, TURNS);
    await offerVectors(source, here, texts, blobs);
    await fetchVectors(source, there, { turns: TURNS, queries: [] }, blobs);
    await expect(encode(unmade(source), there, TURNS)).rejects.toThrow('made');
  });

  test('by the kind of text are those of queries for queries alone', async () => {
    const [here, there, blobs] = [openFolder(), openFolder(), new SampleBlobStore()];
    const byKind: EncoderSource = { ...source, dependsOn: 'kind' };
    const owners = QUERIES.map((id) => ({ kind: 'query' as const, id }));
    const encoder = await createCachedEncoder(byKind, here);
    const vectors = await encoder.encode(QUERIES, undefined, { owners });
    encoder.dispose();
    await offerVectors(byKind, here, texts, blobs);
    await fetchVectors(byKind, there, texts, blobs);
    const other = await createCachedEncoder(unmade(byKind), there);
    expect(await other.encode(QUERIES, undefined, { owners })).toEqual(vectors);
    await expect(other.encode(QUERIES)).rejects.toThrow('made');
    other.dispose();
  });

  test('of another encoder are an error', async () => {
    const [here, blobs] = [openFolder(), new SampleBlobStore()];
    await encode(source, here, TURNS);
    await offerVectors(source, here, texts, blobs);
    const [name] = [...blobs.blobs.keys()];
    blobs.blobs.set(name as string, new Uint8Array(300));
    await expect(fetchVectors(source, openFolder(), texts, blobs)).rejects.toThrow(ChecksumMismatchError);
  });
});
