import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { listTextKeys } from '../../index/encoders/cached-texts.ts';
import { createCachedEncoder } from '../../index/encoders/embedding-cache.ts';
import { computeTextKey } from '../../index/encoders/segments.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import { openStore } from '../store/open-store.ts';
import { stageRemoval } from '../store/removal.ts';
import { CANARY, fillSite, OPEN_RECORDS, openSite, SECRET_RECORDS, SECRET_TALK } from './canary.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-forgotten-cache-'));
const filled = join(root, 'filled');
const EARLIER = 'an earlier text of the secret record';
const secret = [...SECRET_RECORDS.map(({ context }) => context), EARLIER];
const open = OPEN_RECORDS.map(({ context }) => context);

beforeAll(async () => {
  await useBackend('wasm');
  await fillSite(join(filled, 'site'), true);
  const memory = await openSite(join(filled, 'site'));
  const [first, second] = SECRET_RECORDS as [MemoryRecordInput, MemoryRecordInput];
  await memory.upsert([{ ...first, context: EARLIER }]);
  await memory.upsert([first]);
  await memory.remove(second.id);
  await memory.close();
  const encoder = {
    ...{ name: 'lengths', identity: {}, dimension: 1 },
    encode: async (texts: readonly string[]) => Float32Array.from(texts, ({ length }) => length),
    dispose() {},
  };
  const cached = await createCachedEncoder(
    { ...encoder, create: async () => encoder },
    join(filled, 'cache', 'embeddings'),
  );
  await cached.encode([...open, ...secret]);
  cached.dispose();
});
afterAll(() => rmSync(root, { recursive: true }));

function copyFilled(name: string) {
  const folder = join(root, name);
  cpSync(filled, folder, { recursive: true });
  return { site: join(folder, 'site'), cache: join(folder, 'cache') };
}

/** The texts whose keys a cache has. */
function listCached(cache: string): string[] {
  const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
  return [...open, ...secret].filter((text) => bytes.includes(Buffer.from(computeTextKey(text), 'hex')));
}

test('the cache loses the vectors of removed records, of their earlier texts and of what logs have of others', async () => {
  const { site, cache } = copyFilled('removed');
  expect(listCached(cache)).toEqual([...open, ...secret]);
  const memory = await openSite(site);
  const selection = { conversationId: SECRET_TALK };
  expect((await memory.removeWhere(selection, { dryRun: true })).cached).toBeNull();
  const dry = await memory.removeWhere(selection, { dryRun: true, cacheFolder: cache });
  expect([dry.cached, listCached(cache)]).toEqual([
    { vectors: secret.length, tokens: 0, unread: [] },
    [...open, ...secret],
  ]);
  expect(await memory.removeWhere(selection, { cacheFolder: cache })).toEqual(dry);
  await memory.close();
  expect(listCached(cache)).toEqual(open);
});

test('the next opening takes the vectors of a removal that was killed after it was decided', async () => {
  const { site, cache } = copyFilled('killed');
  const [{ context: text }] = SECRET_RECORDS as [MemoryRecordInput];
  const cached = { folder: cache, hashes: listTextKeys({ text, author: null }) };
  await stageRemoval(site, { ids: new Set([`${CANARY}-1`]), versions: [], cached }, [], async () => {});
  const store = await openStore(site);
  expect([store.has(`${CANARY}-1`), listCached(cache).includes(text)]).toEqual([false, false]);
  expect(listCached(cache)).toHaveLength(open.length + secret.length - 1);
  await store.close();
});

test('a memory without a folder forgets in the cache too', async () => {
  const { cache } = copyFilled('in-memory');
  const memory = await openSite(null);
  await memory.addBatch([...OPEN_RECORDS, ...SECRET_RECORDS]);
  await memory.removeWhere({ conversationId: SECRET_TALK }, { cacheFolder: cache });
  await memory.close();
  expect(listCached(cache)).toEqual([...open, EARLIER]);
});
