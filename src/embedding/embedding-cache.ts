import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  ChecksumMismatchError,
  DimensionMismatchError,
  NotFiniteError,
  RecordNotFoundError,
  ValidationError,
} from '../core/errors.ts';
import { hashOf } from '../core/hash.ts';
import { oneAtATime } from '../core/one-at-a-time.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { readSafetensors, writeSafetensors } from '../core/safetensors.ts';
import type { Encoder } from '../model/encoder.ts';

/** An encoder that may never be needed, known by its identity alone: fitting one costs more than encoding with it. */
export interface EncoderSource {
  readonly name: string;
  /** Everything that the vectors depend on besides the texts, the backend that computes them included. */
  readonly identity: Readonly<Record<string, unknown>>;
  create(progress?: StartProgress): Promise<Encoder>;
}

/** Texts between two writes of the file: half a minute of the slowest encoder. */
const SAVED_TEXTS = 512;

const REMEDY = 'delete it and run again to have the texts embedded anew';

/** The rows of one encoder by the hash of their text, in the order in which they were added. */
interface Rows {
  readonly keys: readonly string[];
  /** Row-major [keys, D]. */
  readonly vectors: Float32Array;
  readonly dimension: number;
}

/**
 * Keeps an encoder's vectors on disk by the content of the texts: one safetensors file for each identity, written atomically whenever there were new texts. The
 * encoder itself is made at the first text that is missing. Calls of `encode` that overlap are answered one after another.
 *
 * @throws ChecksumMismatchError when the file was truncated or altered.
 */
export async function cachedEncoder(
  source: EncoderSource,
  folder: string,
  progress: StartProgress = silent,
): Promise<Encoder> {
  const path = join(folder, `${source.name}-${hashOf(source.identity).slice(0, 16)}.safetensors`);
  if (existsSync(path)) return new FileCachedEncoder(source, path, readRows(path), null);
  const encoder = await source.create(progress);
  const empty = { keys: [], vectors: new Float32Array(0), dimension: encoder.dimension };
  return new FileCachedEncoder(source, path, empty, encoder);
}

class FileCachedEncoder implements Encoder {
  readonly name: string;
  readonly dimension: number;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly #source: EncoderSource;
  readonly #path: string;
  readonly #rowOf: Map<string, number>;
  readonly #inTurn = oneAtATime();
  #rows: Rows;
  #encoder: Encoder | null;
  #disposed = false;

  constructor(source: EncoderSource, path: string, rows: Rows, encoder: Encoder | null) {
    this.name = source.name;
    this.dimension = rows.dimension;
    this.identity = { ...source.identity, dimension: rows.dimension };
    this.#source = source;
    this.#path = path;
    this.#rows = rows;
    this.#rowOf = new Map(rows.keys.map((key, row) => [key, row]));
    this.#encoder = encoder;
  }

  encode(texts: readonly string[], progress: StartProgress = silent): Promise<Float32Array> {
    return this.#inTurn(() => this.#encode(texts, progress));
  }

  async #encode(texts: readonly string[], progress: StartProgress): Promise<Float32Array> {
    this.#assertInUse();
    const keys = texts.map((text) => hashOf(text));
    const missing = new Map<string, string>();
    for (const [i, key] of keys.entries()) if (!this.#rowOf.has(key)) missing.set(key, texts[i]!);
    if (missing.size > 0) await this.#embed(missing, progress);
    else progress(`embeddings of ${this.name}`, texts.length).finish(`${texts.length} texts from the cache`);
    return this.#gather(keys);
  }

  async #embed(missing: ReadonlyMap<string, string>, progress: StartProgress): Promise<void> {
    this.#encoder ??= await this.#source.create(progress);
    const encoder = this.#encoder;
    if (this.#disposed) this.dispose(); // while the encoder was made
    this.#assertInUse();
    const { dimension } = encoder;
    if (dimension !== this.dimension)
      throw new DimensionMismatchError(`embeddings of ${this.name} in the cache`, this.dimension, dimension);
    const stage = progress(`embeddings of ${this.name}`, missing.size);
    const entries = [...missing];
    for (let start = 0; start < entries.length; start += SAVED_TEXTS) {
      await this.#embedPart(encoder, entries.slice(start, start + SAVED_TEXTS));
      stage.update(Math.min(start + SAVED_TEXTS, entries.length));
    }
    stage.finish(`${missing.size} texts embedded`);
  }

  /** Embeds some texts and writes the file anew with them, so that an interruption loses no more than one part. */
  async #embedPart(encoder: Encoder, entries: readonly (readonly [string, string])[]): Promise<void> {
    const texts = entries.map(([, text]) => text);
    const vectors = await encoder.encode(texts);
    assertFinite(this.name, texts, vectors, encoder.dimension);
    const first = this.#rows.keys.length;
    const rows = {
      keys: [...this.#rows.keys, ...entries.map(([key]) => key)],
      vectors: joined(this.#rows.vectors, vectors),
      dimension: encoder.dimension,
    };
    writeRows(this.#path, rows, this.identity);
    for (const [i, [key]] of entries.entries()) this.#rowOf.set(key, first + i);
    this.#rows = rows;
  }

  #gather(keys: readonly string[]): Float32Array {
    const gathered = new Float32Array(keys.length * this.dimension);
    for (const [i, key] of keys.entries()) {
      const row = this.#rowOf.get(key);
      if (row === undefined) throw new RecordNotFoundError(`cache of ${this.name}`, key);
      const start = row * this.dimension;
      gathered.set(this.#rows.vectors.subarray(start, start + this.dimension), i * this.dimension);
    }
    return gathered;
  }

  #assertInUse(): void {
    if (this.#disposed) throw new ValidationError(`encoder was disposed: ${this.name}`);
  }

  dispose(): void {
    this.#disposed = true;
    this.#encoder?.dispose();
    this.#encoder = null;
  }
}

/** @throws NotFiniteError naming the first text whose vector holds NaN or infinity. */
function assertFinite(name: string, texts: readonly string[], vectors: Float32Array, dimension: number): void {
  const at = vectors.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return;
  const text = texts[Math.floor(at / dimension)]!.slice(0, 80);
  throw new NotFiniteError(`embedding by ${name}`, `text ${JSON.stringify(text)}`, vectors[at]!);
}

function joined(a: Float32Array, b: Float32Array): Float32Array {
  const both = new Float32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function writeRows(path: string, { keys, vectors, dimension }: Rows, identity: object): void {
  const metadata = { identity: JSON.stringify(identity), keys: keys.join(' ') };
  writeSafetensors(path, { tensors: { rows: { shape: [keys.length, dimension], data: vectors } }, metadata });
}

function readRows(path: string): Rows {
  const { tensors, metadata } = readSafetensors(path, REMEDY);
  const [count, dimension] = tensors.rows?.shape ?? [];
  const keys = metadata.keys?.split(' ') ?? [];
  const vectors = tensors.rows?.data;
  if (!(vectors instanceof Float32Array) || count !== keys.length)
    throw new ChecksumMismatchError(path, 'its keys do not fit its rows', REMEDY);
  return { keys, vectors, dimension: dimension as number };
}
