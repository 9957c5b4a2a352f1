import { join } from 'node:path';
import { DimensionMismatchError, NotFiniteError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { assertWritableFolder } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { createSerialRunner, getOrCompute } from '../../core/values/once.ts';
import type { Encoder, StoredTokens, TokenSource, TokenText, TokenVectors } from '../../model/encoder.ts';
import type { EncoderSource } from './embedding-cache.ts';
import { computeTextKey, Segments } from './segments.ts';
import { type CachedTokens, decodeTokenBlock, encodeTokenBlock, TOKENS } from './token-blocks.ts';
import type { TokenEncoder } from './token-encoder.ts';

const LARGEST = 127;
/** Texts of a block of a file: at most this many are computed in vain by a process that is killed. */
const SAVED_TEXTS = 64;

/**
 * Rows in 8 bits with a scale each, rounded to nearest: a number is off by at most half a step, 1 / 254 of the largest
 * of its row.
 *
 * @param vectors row-major [T, D]
 */
export function quantiseTokens(
  { ids, vectors }: Pick<TokenVectors, 'ids' | 'vectors'>,
  dimension: number,
): StoredTokens {
  const scales = new Float32Array(ids.length);
  const values = new Int8Array(vectors.length);
  for (let token = 0; token < ids.length; token++) {
    const row = vectors.subarray(token * dimension, (token + 1) * dimension);
    let largest = 0;
    for (const value of row) largest = Math.max(largest, Math.abs(value));
    if (largest === 0) continue;
    scales[token] = largest / LARGEST;
    for (let d = 0; d < dimension; d++)
      values[token * dimension + d] = Math.round(((row[d] as number) / largest) * LARGEST);
  }
  return { ids, scales, values };
}

function assertTokenEncoder(encoder: Encoder): TokenEncoder {
  if (encoder.encodeTokens !== undefined) return encoder as TokenEncoder;
  encoder.dispose();
  throw new UnavailableError(
    `vectors of tokens by encoder ${encoder.name}`,
    'it has vectors of whole texts alone; set embedding.encoder to use-lite, bert or transformers',
  );
}

const keys = new WeakMap<TokenText, string>();

/** A hash of the content, computed once for a text that is asked for again and again. */
function computeKey(asked: TokenText): string {
  const { text, owner, context } = asked;
  const key = keys.get(asked) ?? computeHash([owner.kind, context, text]);
  keys.set(asked, key);
  return key;
}

/**
 * Keeps the vectors of tokens by the content of the texts, in 8 bits, in {@link Segments} that texts are read from
 * block by block. The encoder itself is made at the first text that is missing. Without a folder they are kept in
 * memory.
 */
export class TokenStore implements TokenSource {
  readonly #source: EncoderSource;
  readonly #folder: string | null;
  readonly #segments: Segments | null;
  readonly #kept = new Map<string, StoredTokens>();
  readonly #inTurn = createSerialRunner();
  #dimension: number | null;
  #encoder: TokenEncoder | null = null;
  #disposed = false;

  private constructor(source: EncoderSource, folder: string | null, segments: Segments | null) {
    this.#source = source;
    this.#folder = folder;
    this.#segments = segments;
    this.#dimension = segments?.dimension ?? null;
  }

  /**
   * @param folder in which `<name>-<hash of the identity>` is made; null keeps nothing.
   * @throws ChecksumMismatchError for a damaged segment, StorageError for a link.
   */
  static async open(source: EncoderSource, folder: string | null): Promise<TokenStore> {
    await ensureBackend(); // it is part of the identity
    if (folder === null) return new TokenStore(source, null, null);
    const identity = computeHash([TOKENS.magic, source.identity]);
    const segments = Segments.open(TOKENS, join(folder, `${source.name}-${identity.slice(0, 16)}`), identity);
    return new TokenStore(source, folder, segments);
  }

  /** D. @throws ValidationError before anything was computed. */
  get dimension(): number {
    if (this.#dimension !== null) return this.#dimension;
    throw new ValidationError(`no token was computed by ${this.#source.name}; prepare the texts first`);
  }

  get weighsTokens(): boolean {
    return this.#source.weighsTokens ?? false;
  }

  /**
   * Computes what is missing, and writes it part by part.
   *
   * @throws UnavailableError for an encoder without vectors of tokens; NotFiniteError; DimensionMismatchError for other
   *   vectors than one for each token; ValidationError after `dispose()`; the reason of a signal that stops the work.
   */
  prepare(texts: readonly TokenText[], progress: StartProgress = ignoreProgress, signal?: AbortSignal): Promise<void> {
    return this.#inTurn(() => this.#prepare(texts, progress, signal));
  }

  async #prepare(texts: readonly TokenText[], progress: StartProgress, signal: AbortSignal | undefined): Promise<void> {
    this.#assertInUse();
    const byKey = new Map(texts.map((text) => [computeKey(text), text] as const));
    const missing = [...byKey].filter(([key]) => !this.#has(key));
    if (missing.length === 0) return;
    const encoder = await this.#openEncoder(progress);
    const stage = progress(`tokens of ${this.#source.name}`, missing.length);
    for (let start = 0; start < missing.length; start += SAVED_TEXTS) {
      signal?.throwIfAborted();
      await this.#add(encoder, missing.slice(start, start + SAVED_TEXTS), signal);
      stage.update(Math.min(start + SAVED_TEXTS, missing.length));
    }
    stage.finish(`${missing.length} texts`);
  }

  async #add(
    encoder: TokenEncoder,
    entries: readonly (readonly [string, TokenText])[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const found = new Map<string, CachedTokens>();
    for (const isWhole of [true, false]) {
      const part = entries.filter(([, { context }]) => (context === null) === isWhole);
      if (part.length === 0) continue;
      const tokens = await encoder.encodeTokens(
        part.map(([, { text }]) => text),
        {
          owners: part.map(([, { owner }]) => owner),
          ...(isWhole ? {} : { context: part.map(([, { context }]) => context as readonly string[]) }),
          ...(signal && { signal }),
        },
      );
      for (const [i, [key, { owner, text, context }]] of part.entries()) {
        const own = tokens[i] as TokenVectors;
        const numbers = own.ids.length * this.dimension;
        if (own.vectors.length !== numbers)
          throw new DimensionMismatchError(
            `token vectors by ${encoder.name} of ${owner.id}`,
            numbers,
            own.vectors.length,
          );
        const wrong = own.vectors.find((value) => !Number.isFinite(value));
        if (wrong !== undefined) throw new NotFiniteError(`token vector by ${encoder.name}`, owner.id, wrong);
        const texts = [text, ...(context ?? [])].map((each) => computeTextKey(each));
        found.set(key, { ...quantiseTokens(own, this.dimension), texts });
      }
    }
    this.#assertInUse();
    if (this.#segments === null) for (const [key, tokens] of found) this.#kept.set(key, tokens);
    else this.#segments.append([...found.keys()], this.dimension, encodeTokenBlock([...found.values()]));
  }

  async #openEncoder(progress: StartProgress): Promise<TokenEncoder> {
    if (this.#encoder === null) {
      if (this.#folder !== null) assertWritableFolder(this.#folder);
      this.#encoder = assertTokenEncoder(await this.#source.create(progress));
      this.#dimension ??= this.#encoder.tokenDimension;
      if (this.#disposed) this.dispose(); // while the encoder was made
      this.#assertInUse();
    }
    return this.#encoder;
  }

  #has(key: string): boolean {
    return this.#segments?.has(key) ?? this.#kept.has(key);
  }

  /**
   * The tokens of texts that were prepared, a block of the file at a time and in its order.
   *
   * @param use gets the index of a text and its tokens, which it may not keep.
   * @throws ChecksumMismatchError for a damaged block; ValidationError for a text that was not prepared.
   */
  async read(
    texts: readonly TokenText[],
    use: (index: number, tokens: StoredTokens) => Promise<void> | void,
  ): Promise<void> {
    this.#assertInUse();
    const indexes = new Map<string, number[]>();
    for (const [index, text] of texts.entries()) getOrCompute(indexes, computeKey(text), () => []).push(index);
    const useAll = async (key: string, tokens: StoredTokens) => {
      for (const index of indexes.get(key) as number[]) await use(index, tokens);
      indexes.delete(key);
    };
    const pause = createEventBreaks();
    for (const block of this.#segments?.read(indexes.keys()) ?? []) {
      const tokens = decodeTokenBlock(block, this.dimension);
      for (const [i, key] of block.keys.entries()) await useAll(key, tokens[i] as StoredTokens);
      await pause();
    }
    for (const key of [...indexes.keys()].filter((wanted) => this.#kept.has(wanted)))
      await useAll(key, this.#kept.get(key) as StoredTokens);
    const [lost] = indexes.values();
    if (lost === undefined) return;
    throw new ValidationError(
      `tokens of a text were not prepared: ${texts[lost[0] as number]?.owner.id}; prepare it first`,
    );
  }

  #assertInUse(): void {
    if (this.#disposed) throw new ValidationError(`store of tokens was disposed: ${this.#source.name}; open a new one`);
  }

  dispose(): void {
    this.#disposed = true;
    this.#segments?.close();
    this.#encoder?.dispose();
    this.#encoder = null;
    this.#kept.clear();
  }
}
