import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import type { TextOwner, TokenText } from '../../model/encoder.ts';
import { countCachedTexts, evictCachedTexts, listTextKeys } from './cached-texts.ts';
import { createCachedEncoder, type EncoderSource } from './embedding-cache.ts';
import { computeTextKey } from './segments.ts';
import { TokenStore } from './token-cache.ts';
import { createWordTokens } from './word-tokens.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'cached-texts-'));
afterAll(() => rmSync(root, { recursive: true }));
/** The cache of a test. */
let folder = root;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'cache-'));
});

const SECRET = 'the code of the safe';
const forget = (text = SECRET, author: string | null = null) => {
  return { folder, hashes: listTextKeys({ text, author }) };
};

/** An encoder of lengths, and the texts that it was given. */
function createLengths(version: number) {
  const seen: string[] = [];
  const encode = async (texts: readonly string[]) => {
    seen.push(...texts);
    return Float32Array.from(texts.flatMap((text) => [text.length, version]));
  };
  const encoder = { name: 'lengths', dimension: 2, identity: { version }, encode, dispose() {} };
  const source: EncoderSource = {
    ...{ name: 'lengths', identity: { version }, dependsOn: 'kind' },
    create: async () => encoder,
  };
  return { source, seen };
}

/** @returns the texts that the cache lacked, and the vectors. */
async function embed(texts: readonly string[], version = 1, kind: TextOwner['kind'] = 'turn') {
  const { source, seen } = createLengths(version);
  const encoder = await createCachedEncoder(source, join(folder, 'embeddings'));
  const vectors = await encoder.encode(texts, undefined, { owners: texts.map((id) => ({ kind, id })) });
  encoder.dispose();
  return { seen, vectors };
}

/** @returns the texts that the cache lacked. */
async function prepareTokens(texts: readonly TokenText[]): Promise<readonly string[]> {
  const { source, seen } = createWordTokens();
  const store = await TokenStore.open(source, join(folder, 'tokens'));
  await store.prepare(texts);
  await store.read(texts, () => {});
  store.dispose();
  return seen;
}

const buildTurn = (text: string, context: readonly string[] | null = []): TokenText => {
  return { text, owner: { kind: 'turn', id: text }, context };
};

const listFiles = (suffix: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(folder, name));

/** True if a file of the cache has the key. */
const holdsKey = (key: string) =>
  listFiles('.vectors').some((path) => readFileSync(path).includes(Buffer.from(key, 'hex')));

test('the vectors of a text go, by every encoder and of every segment, and those of other texts stay', async () => {
  const open = Array.from({ length: 1200 }, (_, i) => `open ${i}`);
  const expected = await embed([...open.slice(0, 700), SECRET, ...open.slice(700)]);
  await embed([SECRET, 'more'], 2);
  await embed([SECRET, 'question'], 1, 'query');
  const keys = [computeTextKey(SECRET), computeTextKey(SECRET, true)];
  expect([keys.map(holdsKey), listFiles('.vectors').length]).toEqual([[true, true], 3]);
  expect(countCachedTexts(forget())).toEqual({ vectors: 3, tokens: 0, unread: [] });
  expect(keys.map(holdsKey)).toEqual([true, true]);
  evictCachedTexts(forget());
  expect([keys.map(holdsKey), listFiles('.vectors').length]).toEqual([[false, false], 3]);
  expect(countCachedTexts(forget())).toEqual({ vectors: 0, tokens: 0, unread: [] });
  const again = await embed([...open.slice(0, 700), SECRET, ...open.slice(700)]);
  expect(again).toEqual({ seen: [SECRET], vectors: expected.vectors });
  expect((await embed([SECRET, 'more'], 2)).seen).toEqual([SECRET]);
  expect((await embed([SECRET, 'question'], 1, 'query')).seen).toEqual([SECRET]);
});

test('the tokens of a text go, and of texts after it, alone or with its author', async () => {
  const kept = [buildTurn('soup'), buildTurn('soup', ['lunch', 'bread']), buildTurn('soup', null)];
  const gone = [
    buildTurn(SECRET),
    buildTurn(SECRET, null),
    buildTurn(`Ada: ${SECRET}`, ['lunch']),
    buildTurn('thanks', ['lunch', `Ada: ${SECRET}`]),
    buildTurn('thanks', [SECRET, 'lunch']),
    { ...buildTurn(SECRET), owner: { kind: 'query' as const, id: 'q' } },
  ];
  const all = [...kept, ...gone];
  expect((await prepareTokens(all)).length).toBe(all.length);
  expect(countCachedTexts(forget(SECRET, 'Ada'))).toEqual({ vectors: 0, tokens: gone.length, unread: [] });
  evictCachedTexts(forget(SECRET, 'Ada'));
  expect(await prepareTokens(kept)).toEqual([]);
  expect((await prepareTokens(all)).toSorted()).toEqual(gone.map(({ text }) => text).toSorted());
  evictCachedTexts(forget(SECRET));
  expect(await prepareTokens(all)).toHaveLength(4); // the others say it with its author
});

test('a segment without other texts is deleted; a damaged one and one of an earlier version are listed and stay', async () => {
  await embed([SECRET]);
  await embed(['open'], 2);
  evictCachedTexts(forget());
  expect(listFiles('.vectors').length).toBe(1);
  const [path] = listFiles('.vectors') as [string];
  const bytes = readFileSync(path);
  for (const at of [3, 150, bytes.byteLength - 1]) {
    writeFileSync(path, Buffer.from(bytes).fill((bytes[at] as number) ^ 1, at, at + 1));
    expect(countCachedTexts(forget('open')), `byte ${at}`).toEqual({ vectors: 0, tokens: 0, unread: [path] });
    evictCachedTexts(forget('open'));
    expect(listFiles('.vectors')).toEqual([path]);
  }
  await prepareTokens([buildTurn('soup')]);
  const [tokens] = listFiles('.tokens') as [string];
  writeFileSync(tokens, readFileSync(tokens).fill('RAGPPTO1', 0, 8));
  expect(countCachedTexts(forget('soup')).unread).toEqual([path, tokens]);
  evictCachedTexts(forget('soup'));
  expect(listFiles('.tokens')).toEqual([tokens]);
});

test('a block that a killed process left incomplete goes, whatever it is of', async () => {
  await embed(['open', SECRET]);
  const [path] = listFiles('.vectors') as [string];
  const bytes = readFileSync(path);
  evictCachedTexts(forget());
  appendFileSync(path, bytes.subarray(0, -1));
  expect(holdsKey(computeTextKey(SECRET))).toBe(true);
  evictCachedTexts(forget());
  expect(holdsKey(computeTextKey(SECRET))).toBe(false);
  expect((await embed(['open'])).seen).toEqual([]);
});

test('a second call finishes what an interruption left', async () => {
  await embed([SECRET, 'a']);
  await embed([SECRET, 'b']);
  await embed([SECRET, 'c'], 2);
  const paths = listFiles('.vectors');
  const last = paths.at(-1) as string;
  const bytes = readFileSync(last);
  rmSync(last);
  symlinkSync(paths[0] as string, last);
  expect(() => evictCachedTexts(forget())).toThrow(StorageError);
  rmSync(last);
  writeFileSync(last, bytes);
  writeFileSync(`${paths[0]}.17`, ''); // of a process that was killed while it wrote
  expect(countCachedTexts(forget()).vectors).toBe(1);
  evictCachedTexts(forget());
  expect(holdsKey(computeTextKey(SECRET))).toBe(false);
});

test('an encoder that is open meanwhile embeds again what it has not read yet', async () => {
  await embed(['a', SECRET, 'b']);
  const { source, seen } = createLengths(1);
  const encoder = await createCachedEncoder(source, join(folder, 'embeddings'));
  evictCachedTexts(forget());
  expect([...(await encoder.encode(['a', 'ccc']))]).toEqual([1, 1, 3, 1]);
  expect(seen.toSorted()).toEqual(['a', 'ccc']);
  encoder.dispose();
});

test('a cache that is missing has nothing', () => {
  const texts = { ...forget(), folder: join(folder, 'missing') };
  expect(countCachedTexts(texts)).toEqual({ vectors: 0, tokens: 0, unread: [] });
  evictCachedTexts(texts);
  expect(readdirSync(folder)).toEqual([]);
});
