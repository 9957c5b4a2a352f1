import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ChecksumMismatchError,
  DimensionMismatchError,
  UnavailableError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import type { StoredTokens, TokenText } from '../../model/encoder.ts';
import { createEncoderSource } from './registry.ts';
import { quantiseTokens, TokenStore } from './token-cache.ts';
import type { TokenEncoder } from './token-encoder.ts';
import { createWordTokens } from './word-tokens.fixture.ts';

const buildText = (text: string, context: readonly string[] | null = []): TokenText => {
  return { text, owner: { kind: 'turn', id: text }, context };
};

async function readAll(store: TokenStore, texts: readonly TokenText[]): Promise<StoredTokens[]> {
  const found: StoredTokens[] = [];
  await store.read(texts, (index, { ids, scales, values }) => {
    found[index] = { ids: ids.slice(), scales: scales.slice(), values: values.slice() };
  });
  return found;
}

test('a number in 8 bits is off by at most half a step of the largest of its row', () => {
  const source = createRandom(5, 'rows');
  const vectors = Float32Array.from({ length: 7 * 9 }, () => source.drawNormal()).fill(0, 27, 36);
  const { scales, values } = quantiseTokens({ ids: new Int32Array(7), vectors }, 9);
  for (const [at, value] of vectors.entries()) {
    const scale = scales[Math.floor(at / 9)] as number;
    expect(Math.abs(scale * (values[at] as number) - value)).toBeLessThanOrEqual(scale / 2 + 1e-6);
  }
  expect([...values.subarray(27, 36)]).toEqual(Array(9).fill(0));
});

describe('a store of tokens', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const findFile = () => {
    const [name] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.tokens'),
    );
    return join(folder, name as string);
  };

  async function writeTexts(texts: readonly TokenText[]): Promise<readonly string[]> {
    const { source, seen } = createWordTokens();
    const store = await TokenStore.open(source, folder);
    await store.prepare(texts);
    store.dispose();
    return seen;
  }

  const TEXTS = Array.from({ length: 150 }, (_, i) => buildText(`word ${i % 100}`, i % 2 === 0 ? [] : ['before']));

  test('gives the same with a folder and without, and encodes each text with its context once', async () => {
    const { source, seen } = createWordTokens();
    const inMemory = await TokenStore.open(source, null);
    await inMemory.prepare(TEXTS);
    const expected = await readAll(inMemory, TEXTS);
    expect(seen).toHaveLength(100);
    expect((await writeTexts(TEXTS)).toSorted()).toEqual(seen.toSorted());
    expect(await writeTexts(TEXTS)).toEqual([]);
    const again = createWordTokens();
    const store = await TokenStore.open(again.source, folder);
    expect(await readAll(store, TEXTS)).toEqual(expected);
    expect(await readAll(store, TEXTS.slice(33, 34))).toEqual(expected.slice(33, 34));
    expect(again.seen).toEqual([]);
    store.dispose();
    inMemory.dispose();
  });

  test('a text with other context, or of a query, has other tokens', async () => {
    const texts = [
      buildText('soup', []),
      buildText('soup', ['Ann cooked']),
      { ...buildText('soup', []), owner: { kind: 'query' as const, id: 'q' } },
    ];
    expect(await writeTexts(texts)).toHaveLength(3);
  });

  test('ignores what a killed process left unfinished, and encodes it again', async () => {
    await writeTexts(TEXTS);
    truncateSync(findFile(), readFileSync(findFile()).byteLength - 1);
    expect(await writeTexts(TEXTS)).toHaveLength(36); // the last of blocks of 64
    expect(await writeTexts(TEXTS)).toEqual([]);
  });

  test('a damaged byte is an error, whichever it is of', async () => {
    await writeTexts(TEXTS.slice(0, 2));
    const bytes = readFileSync(findFile());
    for (const at of [3, 20, 170, 230, bytes.byteLength - 1]) {
      writeFileSync(findFile(), Buffer.from(bytes).fill((bytes[at] as number) ^ 1, at, at + 1));
      const work = async () => readAll(await TokenStore.open(createWordTokens().source, folder), TEXTS.slice(0, 2));
      await expect(work(), `byte ${at}`).rejects.toThrow(ChecksumMismatchError);
    }
  });

  test('refuses texts that were not prepared, and work after it was disposed', async () => {
    const store = await TokenStore.open(createWordTokens().source, folder);
    expect(() => store.dimension).toThrow(ValidationError);
    await store.prepare(TEXTS.slice(0, 1));
    await expect(readAll(store, TEXTS.slice(1, 2))).rejects.toThrow(/were not prepared: word 1; prepare it first/);
    store.dispose();
    await expect(store.prepare(TEXTS)).rejects.toThrow(ValidationError);
    await expect(readAll(store, TEXTS)).rejects.toThrow(ValidationError);
  });

  test('another number of vectors than of tokens is an error, and no block is written', async () => {
    const { source } = createWordTokens();
    const encoder = (await source.create()) as TokenEncoder;
    const cut = async (texts: readonly string[]) =>
      (await encoder.encodeTokens(texts)).map((tokens) => ({ ...tokens, vectors: tokens.vectors.subarray(8) }));
    const wrong = {
      ...source,
      create: async () => ({ ...encoder, dimension: 8, tokenDimension: 8, encodeTokens: cut }),
    };
    const store = await TokenStore.open(wrong as unknown as typeof source, folder);
    await expect(store.prepare(TEXTS)).rejects.toThrow(DimensionMismatchError);
    expect(
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tokens')),
    ).toEqual([]);
  });

  test('an encoder without vectors of tokens is not available', async () => {
    const fitTexts = ['ann cooked soup', 'soup and bread', 'ann baked bread', 'ann and soup'];
    const source = createEncoderSource({ encoder: 'lsa', dimension: 2, maxDocumentShare: 1 }, { fitTexts, seed: 1 });
    const store = await TokenStore.open(source, null);
    await expect(store.prepare(TEXTS)).rejects.toThrow(UnavailableError);
  });
});
