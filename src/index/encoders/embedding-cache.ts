import { join } from 'node:path';
import { shortenShown, showText } from '../../core/display/display.ts';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { assertWritableFolder } from '../../core/files/files.ts';
import { computeHash, viewAsBytes } from '../../core/hash/hash.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { EncodeOptions, Encoder, EncoderUse, TextOwner } from '../../model/encoder.ts';
import { assertOneOwnerEach, assertTextsSendable, listSensitiveTexts, type VectorInput } from './encoder-definition.ts';
import { type BlockRows, computeTextKey, Segments, VECTORS } from './segments.ts';

/** An encoder that may never be needed, known by its identity alone: fitting one costs more than encoding with it. */
export interface EncoderSource {
  readonly name: string;
  /** Everything besides the texts that affects the vectors, including the backend that computes them. */
  readonly identity: Readonly<Record<string, unknown>>;
  /**
   * What a vector depends on besides the identity, `text` by default. Vectors by `kind` are kept separately for turns
   * and queries. Vectors by `id` come from a file of the user and are not kept again.
   */
  readonly dependsOn?: VectorInput;
  /** See `TokenSource`. */
  readonly weighsTokens?: boolean;
  create(progress?: StartProgress): Promise<Encoder>;
}

/** Texts of a block of the file: half a minute of the slowest encoder. */
const SAVED_TEXTS = 512;

/**
 * Keeps an encoder's vectors on disk by the content of the texts: a folder `<name>-<hash of the identity>` of {@link
 * Segments}, to which new texts are added. The encoder itself is made at the first text that is missing; an encoder
 * whose vectors depend on ids is made at once and returned as it is. Calls of `encode` that overlap are answered one
 * after another.
 *
 * @throws ChecksumMismatchError for a damaged segment, StorageError for a link.
 */
export async function createCachedEncoder(
  source: EncoderSource,
  folder: string,
  progress: StartProgress = ignoreProgress,
): Promise<Encoder> {
  if (source.dependsOn === 'id') return source.create(progress);
  await ensureBackend(); // it is part of the identity
  const identity = computeHash(source.identity);
  const path = join(folder, `${source.name}-${identity.slice(0, 16)}`);
  const segments = Segments.open(VECTORS, path, identity);
  if (segments.dimension !== null) return new FileCachedEncoder(source, path, segments, segments.dimension, null);
  assertWritableFolder(folder);
  const encoder = await source.create(progress);
  return new FileCachedEncoder(source, path, segments, encoder.dimension, encoder);
}

class FileCachedEncoder implements Encoder {
  readonly name: string;
  readonly dimension: number;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly #source: EncoderSource;
  readonly #folder: string;
  readonly #segments: Segments;
  readonly #inTurn = createSerialRunner();
  #encoder: Encoder | null;
  #disposed = false;

  constructor(source: EncoderSource, folder: string, segments: Segments, dimension: number, encoder: Encoder | null) {
    this.name = source.name;
    this.dimension = dimension;
    this.identity = { ...source.identity, dimension };
    this.#source = source;
    this.#folder = folder;
    this.#segments = segments;
    this.#encoder = encoder;
  }

  encode(
    texts: readonly string[],
    progress: StartProgress = ignoreProgress,
    options: EncodeOptions = {},
  ): Promise<Float32Array> {
    return this.#inTurn(() => this.#encode(texts, progress, options));
  }

  async #encode(
    texts: readonly string[],
    progress: StartProgress,
    { owners, signal }: EncodeOptions,
  ): Promise<Float32Array> {
    this.#assertInUse();
    assertOneOwnerEach(texts, owners);
    const dependsOnKind = this.#source.dependsOn === 'kind';
    const keys = texts.map((text, i) => computeTextKey(text, dependsOnKind && owners?.[i]?.kind === 'query'));
    const rows = new RowsByKey(keys, this.dimension);
    await this.#read(rows);
    const missing = rows.listMissing();
    if (missing.length > 0) await this.#embed(rows, listMissing(missing, texts, owners), progress, signal);
    else progress(`embeddings of ${this.name}`, texts.length).finish(`${texts.length} texts from the cache`);
    return rows.gatherAllRows();
  }

  async #read(rows: RowsByKey): Promise<void> {
    const breakNow = createEventBreaks();
    for (const block of this.#segments.read(rows.keys)) {
      rows.setBlock(block);
      await breakNow();
    }
  }

  async #embed(
    rows: RowsByKey,
    entries: readonly MissingText[],
    progress: StartProgress,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    signal?.throwIfAborted();
    const encoder = await this.#openEncoder(progress);
    if (encoder.isRemote === true) assertEntriesSendable(entries, this.name);
    const stage = progress(`embeddings of ${this.name}`, entries.length);
    for (let start = 0; start < entries.length; start += SAVED_TEXTS) {
      const countOfAll = () => ({ update: (done: number) => stage.update(start + done), finish() {} });
      rows.set(await this.#embedPart(encoder, entries.slice(start, start + SAVED_TEXTS), countOfAll, signal));
      stage.update(Math.min(start + SAVED_TEXTS, entries.length));
    }
    const { incomplete } = this.#segments;
    const remark = incomplete === null ? '' : `; ignored the incomplete block at the end of ${incomplete}`;
    const use = encoder.describeUse === undefined ? '' : `; ${encoder.describeUse()}`;
    stage.finish(`${entries.length} texts embedded${use}${remark}`);
  }

  async #openEncoder(progress: StartProgress): Promise<Encoder> {
    if (this.#encoder === null) {
      assertWritableFolder(this.#folder);
      this.#encoder = await this.#source.create(progress);
    }
    const encoder = this.#encoder;
    if (this.#disposed) this.dispose(); // while the encoder was made
    this.#assertInUse();
    if (encoder.dimension !== this.dimension)
      throw new DimensionMismatchError(`embeddings of ${this.name} in the cache`, this.dimension, encoder.dimension);
    return encoder;
  }

  /** Embeds some texts and adds them to the file, so that an interruption loses at most one part. */
  async #embedPart(
    encoder: Encoder,
    entries: readonly MissingText[],
    progress: StartProgress,
    signal: AbortSignal | undefined,
  ): Promise<KeyedVectors> {
    const texts = entries.map(({ text }) => text);
    const owners = entries.flatMap(({ owner }) => (owner === undefined ? [] : [owner]));
    const vectors = await encoder.encode(texts, progress, {
      ...(owners.length === 0 ? {} : { owners }),
      ...(signal === undefined ? {} : { signal }),
    });
    this.#assertInUse();
    assertFinite(this.name, entries, vectors, encoder.dimension);
    const keys = entries.map(({ key }) => key);
    this.#segments.append(keys, encoder.dimension, viewAsBytes(vectors));
    return { keys, vectors };
  }

  /** Of the encoder, if a text was missing: vectors of the cache use nothing. */
  readUse(): EncoderUse | null {
    return this.#encoder?.readUse?.() ?? null;
  }

  #assertInUse(): void {
    if (this.#disposed) throw new ValidationError(`encoder was disposed: ${this.name}; load a new encoder`);
  }

  dispose(): void {
    this.#disposed = true;
    this.#segments.close();
    this.#encoder?.dispose();
    this.#encoder = null;
  }
}

/** @throws NotFiniteError naming the first text whose vector holds NaN or infinity. */
function assertFinite(name: string, entries: readonly MissingText[], vectors: Float32Array, dimension: number): void {
  const at = vectors.findIndex((value) => !Number.isFinite(value));
  if (at < 0) return;
  const { text, owner } = entries[Math.floor(at / dimension)] as MissingText;
  const shown = shortenShown(showText(text, owner?.sensitive === true), 80);
  const where = owner === undefined ? `text ${JSON.stringify(shown)}` : `text ${JSON.stringify(shown)} of ${owner.id}`;
  throw new NotFiniteError(`embedding by ${name}`, where, vectors[at]!);
}

/** Of all missing texts before the first part, so that nothing is sent if one is refused. @throws SensitiveTextError. */
function assertEntriesSendable(entries: readonly MissingText[], name: string): void {
  const texts = entries.map(({ text }) => text);
  const owners = entries.flatMap(({ owner }) => (owner === undefined ? [] : [owner]));
  assertTextsSendable(texts, owners, `encoder ${name}`);
}

/** Vectors and the keys that they belong to, in the same order. */
interface KeyedVectors {
  /** [K] */
  readonly keys: readonly string[];
  /** Row-major [K, D]. */
  readonly vectors: Float32Array;
}

interface MissingText {
  readonly key: string;
  readonly text: string;
  readonly owner: TextOwner | undefined;
}

function listMissing(
  missing: readonly (readonly [key: string, row: number])[],
  texts: readonly string[],
  owners: readonly TextOwner[] | undefined,
): MissingText[] {
  const sensitive = listSensitiveTexts(texts, owners);
  return missing.map(([key, at]) => {
    const [text, owner] = [texts[at] as string, owners?.[at]];
    return { key, text, owner: owner && sensitive.has(text) ? { ...owner, sensitive: true } : owner };
  });
}

/** The vectors of N texts, which come a few keys at a time. */
class RowsByKey {
  readonly #keys: readonly string[];
  readonly #width: number;
  /** Row-major [N, D]. */
  readonly #rows: Float32Array;
  /** The first row of each key. */
  readonly #firstOf = new Map<string, number>();
  /** [N] 1 for the first row of a key with a vector. */
  readonly #found: Uint8Array;

  constructor(keys: readonly string[], width: number) {
    this.#keys = keys;
    this.#width = width;
    this.#rows = new Float32Array(keys.length * width);
    this.#found = new Uint8Array(keys.length);
    for (const [row, key] of keys.entries()) if (!this.#firstOf.has(key)) this.#firstOf.set(key, row);
  }

  /** Each key once. */
  get keys(): Iterable<string> {
    return this.#firstOf.keys();
  }

  /** The keys without a vector and their first rows, in order. */
  listMissing(): [key: string, row: number][] {
    return [...this.#firstOf].filter(([, row]) => this.#found[row] === 0);
  }

  set({ keys, vectors }: KeyedVectors): void {
    for (const [row, key] of keys.entries()) {
      const vector = vectors.subarray(row * this.#width, (row + 1) * this.#width);
      const first = this.#firstOf.get(key) as number;
      this.#rows.set(vector, first * this.#width);
      this.#found[first] = 1;
    }
  }

  /** The rows of a block of the cache. */
  setBlock({ keys, rows, values }: BlockRows): void {
    const vectors = gatherRows(new Float32Array(values.buffer), this.#width, rows);
    this.set({ keys, vectors });
  }

  /** The rows when none is missing, with those of repeated texts copied. */
  gatherAllRows(): Float32Array {
    for (const [row, key] of this.#keys.entries()) {
      const from = (this.#firstOf.get(key) as number) * this.#width;
      if (from !== row * this.#width) this.#rows.copyWithin(row * this.#width, from, from + this.#width);
    }
    return this.#rows;
  }
}
