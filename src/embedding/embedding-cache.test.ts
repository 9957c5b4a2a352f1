import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ChecksumMismatchError, DimensionMismatchError, NotFiniteError, StorageError } from '../core/errors.ts';
import type { Encoder } from '../model/encoder.ts';
import { cachedEncoder, type EncoderSource } from './embedding-cache.ts';

/** Puts the letters of a text on a circle; counts what it is asked. */
class LetterEncoder implements Encoder, EncoderSource {
  readonly name = 'letters';
  readonly identity: Record<string, unknown>;
  readonly dimension: number;
  readonly seen: string[] = [];
  made = 0;

  constructor(version = 1, dimension = 3) {
    this.identity = { encoder: 'letters', version };
    this.dimension = dimension;
  }

  async create(): Promise<Encoder> {
    this.made++;
    return this;
  }

  async encode(texts: readonly string[]): Promise<Float32Array> {
    this.seen.push(...texts);
    return Float32Array.from(texts.flatMap((text) => this.vector(text)));
  }

  vector(text: string): number[] {
    if (text === 'broken') return Array(this.dimension).fill(Number.NaN);
    return Array.from({ length: this.dimension }, (_, d) => Math.fround(Math.cos(text.length + d)));
  }

  dispose(): void {}
}

describe('embedding cache', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'embedding-cache-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = () => join(folder, readdirSync(folder)[0]!);

  async function encodeOnce(source: LetterEncoder, texts: readonly string[]) {
    const cached = await cachedEncoder(source, folder);
    return { cached, rows: await cached.encode(texts) };
  }

  test('a second run neither makes the encoder nor embeds anything, and has the same rows in the order asked for', async () => {
    await encodeOnce(new LetterEncoder(), ['a', 'bb', 'ccc', 'bb']);
    const source = new LetterEncoder();
    const { cached, rows } = await encodeOnce(source, ['ccc', 'a', 'ccc']);
    expect([...rows]).toEqual(['ccc', 'a', 'ccc'].flatMap((text) => source.vector(text)));
    expect(source.made).toBe(0);
    expect(cached.dimension).toBe(3);
    expect([cached.hits, cached.misses]).toEqual([3, 0]);
  });

  test('only new texts are embedded, each once', async () => {
    const first = new LetterEncoder();
    const { cached } = await encodeOnce(first, ['a', 'bb', 'a']);
    expect(first.seen).toEqual(['a', 'bb']);
    expect([cached.hits, cached.misses]).toEqual([1, 2]);
    const second = new LetterEncoder();
    const { rows } = await encodeOnce(second, ['dddd', 'bb', 'eeeee', 'a']);
    expect(second.seen).toEqual(['dddd', 'eeeee']);
    expect([...rows]).toEqual(['dddd', 'bb', 'eeeee', 'a'].flatMap((text) => second.vector(text)));
    const third = await encodeOnce(second, ['eeeee', 'a', 'bb', 'dddd']);
    expect(third.cached.misses).toBe(0);
    expect([...third.rows]).toEqual(['eeeee', 'a', 'bb', 'dddd'].flatMap((text) => second.vector(text)));
  });

  test('another identity has a file of its own', async () => {
    await encodeOnce(new LetterEncoder(1), ['a']);
    const other = new LetterEncoder(2);
    await encodeOnce(other, ['a']);
    expect(other.seen).toEqual(['a']);
    expect(readdirSync(folder).length).toBe(2);
  });

  test.each([
    ['truncated', (path: string) => truncateSync(path, 300)],
    ['altered in its rows', (path: string) => flip(path, readFileSync(path).length - 2)],
    ['altered in its keys', (path: string) => flip(path, readFileSync(path).indexOf('"keys":"') + 12)],
  ])('a file %s is an error that names the remedy', async (_, damage) => {
    await encodeOnce(new LetterEncoder(), ['a', 'bb', 'ccc', 'dddd']);
    damage(file());
    const error = await cachedEncoder(new LetterEncoder(), folder).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChecksumMismatchError);
    expect((error as Error).message).toContain(`delete it and run again to have the texts embedded anew: ${file()}`);
  });

  test('a vector that is not finite names its text, and nothing is written', async () => {
    const error = await encodeOnce(new LetterEncoder(), ['a', 'broken']).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotFiniteError);
    expect((error as Error).message).toBe('embedding by letters is not finite at text "broken": NaN');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('an encoder whose dimension is not that of the file is refused', async () => {
    await encodeOnce(new LetterEncoder(1, 3), ['a']);
    await expect(encodeOnce(new LetterEncoder(1, 5), ['a', 'bb'])).rejects.toThrow(DimensionMismatchError);
  });

  test('a folder that cannot be written is a storage error', async () => {
    writeFileSync(join(folder, 'occupied'), '');
    const cached = await cachedEncoder(new LetterEncoder(), join(folder, 'occupied'));
    await expect(cached.encode(['a'])).rejects.toThrow(StorageError);
  });
});

/** Another hexadecimal digit, or another byte. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = bytes[at] === 0x61 ? 0x62 : 0x61;
  writeFileSync(path, bytes);
}
