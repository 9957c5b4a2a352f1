import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import {
  ChecksumMismatchError,
  DimensionMismatchError,
  NotFiniteError,
  StorageError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { Encoder } from '../../model/encoder.ts';
import { createCachedEncoder, type EncoderSource } from './embedding-cache.ts';

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
    return Float32Array.from(texts.flatMap((text) => this.computeFakeVector(text)));
  }

  computeFakeVector(text: string): number[] {
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

  /** The segments of all encoders, in the order of their names. */
  const listSegmentFiles = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.vectors'))
      .sort()
      .map((name) => join(folder, name));
  const findFirstFile = () => listSegmentFiles()[0]!;

  async function encodeOnce(source: LetterEncoder, texts: readonly string[], progress?: StartProgress) {
    const cached = await createCachedEncoder(source, folder);
    try {
      return { cached, rows: await cached.encode(texts, progress) };
    } finally {
      cached.dispose();
    }
  }

  test('a second run neither makes the encoder nor embeds anything, and has the same rows in the order asked for', async () => {
    await encodeOnce(new LetterEncoder(), ['a', 'bb', 'ccc', 'bb']);
    const source = new LetterEncoder();
    const { cached, rows } = await encodeOnce(source, ['ccc', 'a', 'ccc']);
    expect([...rows]).toEqual(['ccc', 'a', 'ccc'].flatMap((text) => source.computeFakeVector(text)));
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
    expect([...rows]).toEqual(['dddd', 'bb', 'eeeee', 'a'].flatMap((text) => second.computeFakeVector(text)));
    const third = await encodeOnce(second, ['eeeee', 'a', 'bb', 'dddd']);
    expect(second.seen).toEqual(['dddd', 'eeeee']);
    expect([...third.rows]).toEqual(['eeeee', 'a', 'bb', 'dddd'].flatMap((text) => second.computeFakeVector(text)));
  });

  test('the count follows the encoder within what is saved at a time', async () => {
    const source = new LetterEncoder();
    source.encode = async (texts: readonly string[], progress?: StartProgress) => {
      const stage = progress?.('letters', texts.length);
      for (let done = 100; done < texts.length; done += 100) stage?.update(done);
      stage?.finish();
      return new Float32Array(3 * texts.length);
    };
    const counts: number[] = [];
    const texts = Array.from({ length: 700 }, (_, at) => `text ${at}`);
    const progress: StartProgress = (stage, total) => {
      expect([stage, total]).toEqual(['embeddings of letters', 700]);
      return { update: (done) => void counts.push(done), finish() {} };
    };
    await encodeOnce(source, texts, progress);
    expect(counts).toEqual([100, 200, 300, 400, 500, 512, 612, 700]);
  });

  test('calls that overlap have the vectors of their own texts, and none is embedded twice', async () => {
    const source = new LetterEncoder();
    const cached = await createCachedEncoder(source, folder);
    const asked = [['a', 'bb'], ['bb', 'ccc'], ['dddd', 'a'], ['ccc']];
    const answers = await Promise.all(asked.map((texts) => cached.encode(texts)));
    for (const [i, rows] of answers.entries())
      expect([...rows]).toEqual(asked[i]!.flatMap((text) => source.computeFakeVector(text)));
    expect(source.seen).toEqual(['a', 'bb', 'ccc', 'dddd']);
    cached.dispose();
    const { rows } = await encodeOnce(source, ['dddd', 'ccc', 'bb', 'a']);
    expect([...rows]).toEqual(['dddd', 'ccc', 'bb', 'a'].flatMap((text) => source.computeFakeVector(text)));
  });

  test('a call that fails leaves those after it alone', async () => {
    const source = new LetterEncoder();
    const cached = await createCachedEncoder(source, folder);
    const failing = cached.encode(['broken']);
    const next = cached.encode(['a']);
    await expect(failing).rejects.toThrow(NotFiniteError);
    expect([...(await next)]).toEqual(source.computeFakeVector('a'));
  });

  const MANY = Array.from({ length: 1031 }, (_, i) => `text ${i}`);

  test('many texts are embedded and kept in parts', async () => {
    const source = new LetterEncoder();
    const { rows } = await encodeOnce(source, MANY);
    expect(source.batches).toEqual([512, 512, 7]);
    const expected = MANY.flatMap((text) => source.computeFakeVector(text));
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

  test('the bytes that are written grow with the texts, not with their square', async () => {
    const encodeAndDiffFiles = async (texts: readonly string[]) => {
      const before = Object.fromEntries(listSegmentFiles().map((path) => [path, readFileSync(path)]));
      await encodeOnce(new LetterEncoder(), texts);
      for (const [path, bytes] of Object.entries(before)) expect(readFileSync(path).equals(bytes)).toBe(true);
      return listSegmentFiles().reduce((sum, path) => sum + (path in before ? 0 : statSync(path).size), 0);
    };
    const first = await encodeAndDiffFiles(MANY.slice(0, 512));
    expect(await encodeAndDiffFiles(MANY.slice(0, 1024))).toBe(first);
    expect(await encodeAndDiffFiles(MANY.slice(0, 1024))).toBe(0);
    expect(await encodeAndDiffFiles(MANY)).toBeLessThan(first);
    expect(listSegmentFiles().length).toBe(3);
  });

  test('a process that is killed while it adds a block costs that block; the vectors end up the same', async () => {
    const whole = (await encodeOnce(new LetterEncoder(), MANY)).rows;
    const bytes = readFileSync(findFirstFile());
    const block = (bytes.length - 7 * (32 + 12) - 3 * 144) / 2 + 144;
    for (const cut of [0, 1, 143, 144, 145, block - 1, block, block + 7, 2 * block + 143, bytes.length - 1]) {
      for (const path of listSegmentFiles().slice(1)) rmSync(path);
      writeFileSync(findFirstFile(), bytes.subarray(0, cut));
      const again = new LetterEncoder();
      const lines: string[] = [];
      const collectRemarkLines: StartProgress = () => ({
        update() {},
        finish: (remark) => void lines.push(remark ?? ''),
      });
      const { rows } = await encodeOnce(again, MANY, collectRemarkLines);
      expect(rows).toEqual(whole);
      const kept = 512 * Math.floor(cut / block);
      expect(again.seen).toEqual(MANY.slice(kept));
      const remark = cut % block === 0 ? '' : `; ignored the incomplete block at the end of ${findFirstFile()}`;
      expect(lines).toEqual([`${MANY.length - kept} texts embedded${remark}`]);
      const third = new LetterEncoder();
      expect((await encodeOnce(third, MANY)).rows).toEqual(whole);
      expect(third.seen).toEqual([]);
    }
  });

  test('a block that the system cuts short is an error, and the next process embeds its texts', async () => {
    const module = JSON.stringify(findBuiltUrl('index/encoders/embedding-cache'));
    const program = `
      import { createCachedEncoder } from ${module};
      const encode = async (texts) => Float32Array.from(texts.flatMap(() => [0, 0, 0]));
      const source = { name: 'letters', identity: { encoder: 'letters', version: 1 }, dimension: 3, encode, dispose() {} };
      const cached = await createCachedEncoder({ ...source, create: async () => source }, ${JSON.stringify(folder)});
      await cached.encode(Array.from({ length: 512 }, (_, i) => 'text ' + i));`;
    const node = [process.execPath, '--input-type=module', '-e', program];
    const words = ['-c', 'ulimit -f 16; exec "$@"', 'bash', ...node]; // blocks of 1024 bytes; the texts need 22 of them
    const { status, stderr } = spawnSync('bash', words, { encoding: 'utf8' });
    expect(stderr).toContain(`cannot write (EFBIG: file too large, write): ${findFirstFile()}`);
    expect({ status, size: statSync(findFirstFile()).size }).toEqual({ status: 1, size: 16 * 1024 });
    const source = new LetterEncoder();
    const texts = MANY.slice(0, 512);
    expect([...(await encodeOnce(source, texts)).rows]).toEqual(
      texts.flatMap((text) => source.computeFakeVector(text)),
    );
    expect(listSegmentFiles().map((path) => path.slice(-10))).toEqual(['/1.vectors', '/2.vectors']);
  });

  test('processes that add texts at the same time write segments of their own, and both are read', async () => {
    const sources = [new LetterEncoder(), new LetterEncoder()];
    const [one, two] = (await Promise.all(sources.map((source) => createCachedEncoder(source, folder)))) as [
      Encoder,
      Encoder,
    ];
    await Promise.all([one.encode(['a', 'bb']), two.encode(['bb', 'ccc'])]);
    await Promise.all([one.encode(['dddd']), two.encode(['eeeee'])]);
    for (const encoder of [one, two]) encoder.dispose();
    expect(listSegmentFiles().map((path) => path.slice(-10))).toEqual(['/1.vectors', '/2.vectors']);
    const third = new LetterEncoder();
    const texts = ['eeeee', 'dddd', 'ccc', 'bb', 'a'];
    expect([...(await encodeOnce(third, texts)).rows]).toEqual(texts.flatMap((text) => third.computeFakeVector(text)));
    expect(third.seen).toEqual([]);
  });

  test('segments that somebody deletes while they are in use are made again', async () => {
    await encodeOnce(new LetterEncoder(), ['a', 'bb']);
    const source = new LetterEncoder();
    const cached = await createCachedEncoder(source, folder);
    rmSync(findFirstFile());
    const rows = await cached.encode(['bb', 'a', 'ccc']);
    expect([...rows]).toEqual(['bb', 'a', 'ccc'].flatMap((text) => source.computeFakeVector(text)));
    expect(source.seen).toEqual(['bb', 'a', 'ccc']);
    cached.dispose();
  });

  test('a text that two segments hold has the vector of the first', async () => {
    await encodeOnce(new LetterEncoder(), ['a']);
    const first = findFirstFile();
    const kept = readFileSync(first);
    rmSync(first);
    const other = new LetterEncoder();
    other.computeFakeVector = () => [7, 7, 7];
    await encodeOnce(other, ['a']);
    writeFileSync(first.replace('1.', '10.'), readFileSync(first));
    writeFileSync(first.replace('1.', '9.'), kept);
    rmSync(first);
    const { rows } = await encodeOnce(new LetterEncoder(), ['a']);
    expect([...rows]).toEqual(new LetterEncoder().computeFakeVector('a'));
  });

  test('a disposed one is refused, whether its texts are there or not, and while its encoder is made', async () => {
    const { cached } = await encodeOnce(new LetterEncoder(), ['a']);
    const disposed = /^encoder was disposed: letters; /;
    cached.dispose();
    await expect(cached.encode(['a'])).rejects.toThrow(ValidationError);
    await expect(cached.encode(['bb'])).rejects.toThrow(disposed);
    let released = 0;
    const source = new LetterEncoder();
    source.dispose = () => void released++;
    const late = await createCachedEncoder(source, folder);
    const encoding = late.encode(['bb']);
    source.create = async () => {
      late.dispose();
      return source;
    };
    await expect(encoding).rejects.toThrow(disposed);
    expect(released).toBe(1);
  });

  test('one that is disposed while it embeds adds nothing', async () => {
    const source = new LetterEncoder();
    const cached = await createCachedEncoder(source, folder);
    source.computeFakeVector = () => {
      cached.dispose();
      return [1, 0, 0];
    };
    await expect(cached.encode(['a'])).rejects.toThrow(/^encoder was disposed: letters; load a new encoder$/);
    expect(listSegmentFiles()).toEqual([]);
  });

  test('another identity has a file of its own', async () => {
    await encodeOnce(new LetterEncoder(1), ['a']);
    const other = new LetterEncoder(2);
    await encodeOnce(other, ['a']);
    expect(other.seen).toEqual(['a']);
    expect(listSegmentFiles().length).toBe(2);
  });

  test.each<[string, (path: string) => void, string]>([
    ['altered in its first header', (path) => flip(path, 9), 'the checksum of the block at byte 0 differs'],
    ['altered in its keys', (path) => flip(path, 145), 'the checksum of the 2 keys at byte 144 differs'],
    ['altered in its rows', (path) => flip(path, 144 + 64 + 2), 'the checksum of the vectors at byte 208 differs'],
    ['altered in its last row', (path) => flip(path, statSync(path).size - 1), 'the checksum of the vectors'],
    ['extended', (path) => appendFileSync(path, Buffer.alloc(150)), 'the checksum of the block at byte'],
    ['that lacks bytes of its header', (path) => writeFileSync(path, cutOut(path, 20, 30)), 'differs'],
  ])('a file %s is an error that names the remedy', async (_, damage, reason) => {
    await encodeOnce(new LetterEncoder(), ['a', 'bb']);
    damage(findFirstFile());
    const error = await encodeOnce(new LetterEncoder(), ['a', 'bb']).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChecksumMismatchError);
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).toMatch(/; delete the file and run again to embed its texts$/);
  });

  test('no bit of a block can be changed without being noticed', async () => {
    const { rows } = await encodeOnce(new LetterEncoder(), ['a', 'bb', 'ccc']);
    const intact = readFileSync(findFirstFile());
    for (let at = 0; at < intact.byteLength; at++) {
      const bytes = Buffer.from(intact);
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
      writeFileSync(findFirstFile(), bytes);
      await expect(encodeOnce(new LetterEncoder(), ['a', 'bb', 'ccc'])).rejects.toThrow(ChecksumMismatchError);
    }
    writeFileSync(findFirstFile(), intact);
    expect((await encodeOnce(new LetterEncoder(), ['a', 'bb', 'ccc'])).rows).toEqual(rows);
  });

  test('the file of another encoder is refused', async () => {
    await encodeOnce(new LetterEncoder(1), ['a']);
    const theirs = readFileSync(findFirstFile());
    rmSync(findFirstFile());
    await encodeOnce(new LetterEncoder(2), ['a']);
    writeFileSync(findFirstFile(), theirs);
    await expect(encodeOnce(new LetterEncoder(2), ['a'])).rejects.toThrow(
      `damaged file ${findFirstFile()}: it holds vectors of another encoder; delete the file and run again to embed its texts`,
    );
  });

  test('a link in the place of a segment or of its folder is refused', async () => {
    await encodeOnce(new LetterEncoder(), ['a']);
    const own = dirname(findFirstFile());
    const aside = join(folder, 'aside');
    renameSync(own, aside);
    symlinkSync(aside, own);
    await expect(createCachedEncoder(new LetterEncoder(), folder)).rejects.toThrow(
      /symbolic link, .*letters-[0-9a-f]{16}; remove the link$/,
    );
    rmSync(own);
    mkdirSync(own);
    symlinkSync(join(aside, '1.vectors'), join(own, '1.vectors'));
    await expect(createCachedEncoder(new LetterEncoder(), folder)).rejects.toThrow(
      /symbolic link, .*1\.vectors; remove the link$/,
    );
  });

  test('a vector that is not finite names its text, and nothing is written', async () => {
    const error = await encodeOnce(new LetterEncoder(), ['a', 'broken']).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotFiniteError);
    expect((error as Error).message).toMatch(/^embedding by letters is not finite at text "broken": NaN; /);
    expect(listSegmentFiles()).toEqual([]);
  });

  test('an encoder whose dimension is not that of the file is refused', async () => {
    await encodeOnce(new LetterEncoder(1, 3), ['a']);
    await expect(encodeOnce(new LetterEncoder(1, 5), ['a', 'bb'])).rejects.toThrow(DimensionMismatchError);
  });

  test('a folder that cannot be written is a storage error', async () => {
    writeFileSync(join(folder, 'occupied'), '');
    const source = new LetterEncoder();
    await expect(createCachedEncoder(source, join(folder, 'occupied'))).rejects.toThrow(StorageError);
    expect(source.made).toBe(0);
  });
});

/** Changes a bit of a byte. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

/** The bytes of a file without those from `start` to `end`. */
function cutOut(path: string, start: number, end: number): Buffer {
  const bytes = readFileSync(path);
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}
