import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ChecksumMismatchError,
  DimensionMismatchError,
  NotFiniteError,
  StorageError,
  ValidationError,
} from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { readSafetensors, writeSafetensors } from '../core/safetensors.ts';
import type { Encoder } from '../model/encoder.ts';
import { cachedEncoder, type EncoderSource } from './embedding-cache.ts';

/** Puts a text somewhere on a circle by its letters; counts what it is asked. */
class LetterEncoder implements Encoder, EncoderSource {
  readonly name = 'letters';
  readonly identity: Record<string, unknown>;
  readonly dimension: number;
  readonly seen: string[] = [];
  /** How many texts it was given each time. */
  readonly batches: number[] = [];
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
    this.batches.push(texts.length);
    await letEventsIn();
    return Float32Array.from(texts.flatMap((text) => this.vector(text)));
  }

  vector(text: string): number[] {
    if (text === 'broken') return Array(this.dimension).fill(Number.NaN);
    const code = [...text].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 0) % 100_003;
    return Array.from({ length: this.dimension }, (_, d) => Math.fround(Math.cos(code + d)));
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
    expect(source.seen).toEqual([]);
  });

  test('only new texts are embedded, each once', async () => {
    const first = new LetterEncoder();
    await encodeOnce(first, ['a', 'bb', 'a']);
    expect(first.seen).toEqual(['a', 'bb']);
    const second = new LetterEncoder();
    const { rows } = await encodeOnce(second, ['dddd', 'bb', 'eeeee', 'a']);
    expect(second.seen).toEqual(['dddd', 'eeeee']);
    expect([...rows]).toEqual(['dddd', 'bb', 'eeeee', 'a'].flatMap((text) => second.vector(text)));
    const third = await encodeOnce(second, ['eeeee', 'a', 'bb', 'dddd']);
    expect(second.seen).toEqual(['dddd', 'eeeee']);
    expect([...third.rows]).toEqual(['eeeee', 'a', 'bb', 'dddd'].flatMap((text) => second.vector(text)));
  });

  test('calls that overlap have the vectors of their own texts, and none is embedded twice', async () => {
    const source = new LetterEncoder();
    const cached = await cachedEncoder(source, folder);
    const asked = [['a', 'bb'], ['bb', 'ccc'], ['dddd', 'a'], ['ccc']];
    const answers = await Promise.all(asked.map((texts) => cached.encode(texts)));
    for (const [i, rows] of answers.entries())
      expect([...rows]).toEqual(asked[i]!.flatMap((text) => source.vector(text)));
    expect(source.seen).toEqual(['a', 'bb', 'ccc', 'dddd']);
    const { rows } = await encodeOnce(source, ['dddd', 'ccc', 'bb', 'a']);
    expect([...rows]).toEqual(['dddd', 'ccc', 'bb', 'a'].flatMap((text) => source.vector(text)));
  });

  test('a call that fails leaves those after it alone', async () => {
    const source = new LetterEncoder();
    const cached = await cachedEncoder(source, folder);
    const failing = cached.encode(['broken']);
    const next = cached.encode(['a']);
    await expect(failing).rejects.toThrow(NotFiniteError);
    expect([...(await next)]).toEqual(source.vector('a'));
  });

  const MANY = Array.from({ length: 1031 }, (_, i) => `text ${i}`);

  test('many texts are embedded and kept in parts', async () => {
    const source = new LetterEncoder();
    const { rows } = await encodeOnce(source, MANY);
    expect(source.batches).toEqual([512, 512, 7]);
    const expected = MANY.flatMap((text) => source.vector(text));
    expect([...rows]).toEqual(expected);
    const again = new LetterEncoder();
    expect([...(await encodeOnce(again, MANY)).rows]).toEqual(expected);
    expect(again.made).toBe(0);
  });

  test('what was embedded before a failure is kept', async () => {
    await expect(encodeOnce(new LetterEncoder(), MANY.with(1025, 'broken'))).rejects.toThrow(NotFiniteError);
    const again = new LetterEncoder();
    await encodeOnce(again, MANY);
    expect(again.seen).toEqual(MANY.slice(1024));
  });

  test('a file with further metadata, and with a text twice, is read and added to', async () => {
    await encodeOnce(new LetterEncoder(), ['a', 'bb']);
    const { tensors, metadata } = readSafetensors(file(), '');
    const [first] = (metadata.keys as string).split(' ');
    const data = Float32Array.from([...tensors.rows!.data, ...tensors.rows!.data.subarray(0, 3)]);
    writeSafetensors(file(), {
      tensors: { rows: { shape: [3, 3], data } },
      metadata: { ...metadata, keys: `${metadata.keys} ${first}`, keysHash: '0a1b' },
    });
    const source = new LetterEncoder();
    const { cached, rows } = await encodeOnce(source, ['a', 'bb', 'ccc']);
    expect(source.seen).toEqual(['ccc']);
    expect([...rows]).toEqual(['a', 'bb', 'ccc'].flatMap((text) => source.vector(text)));
    expect([...(await cached.encode(['ccc']))]).toEqual(source.vector('ccc'));
  });

  test('a disposed one is refused, whether its texts are there or not, and while its encoder is made', async () => {
    const { cached } = await encodeOnce(new LetterEncoder(), ['a']);
    const disposed = /^encoder was disposed: letters$/;
    cached.dispose();
    await expect(cached.encode(['a'])).rejects.toThrow(ValidationError);
    await expect(cached.encode(['bb'])).rejects.toThrow(disposed);
    let released = 0;
    const source = new LetterEncoder();
    source.dispose = () => void released++;
    const late = await cachedEncoder(source, folder);
    const encoding = late.encode(['bb']);
    source.create = async () => {
      late.dispose();
      return source;
    };
    await expect(encoding).rejects.toThrow(disposed);
    expect(released).toBe(1);
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
