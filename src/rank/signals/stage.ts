import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import type { TensorData } from '../../core/files/safetensors.ts';
import { canonicalise } from '../../core/hash/hash.ts';
import { addFields, measureCost, type Spent } from '../../core/tensors/active-backend.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Candidates } from '../../model/candidates.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** Queries in a batch: bounds the [N, B] product of cosines at 64 N numbers. */
export const QUERY_BATCH = 64;

/** C places for each of Q queries, in the order in which the tie rule puts equal scores (id descending). */
export interface PoolRows {
  readonly queryCount: number;
  /** C. */
  readonly width: number;
  /** Row-major [Q, C] corpus positions; -1 pads a row's end. */
  readonly positions: Int32Array;
}

/** The turns that a retriever scores. */
export interface CandidatePool extends PoolRows {
  /** That it came from: what its columns are keyed by. */
  readonly stage: Stage;
}

/**
 * The union of what several sources found for the same Q queries.
 *
 * @param compareTies of positions.
 * @param admits leaves out a turn, for example one of another channel.
 */
export function joinCandidates(
  sources: readonly Candidates[],
  queryCount: number,
  compareTies: TieOrder,
  admits: (query: number, position: number) => boolean,
): PoolRows {
  const rows: Set<number>[] = [];
  for (let query = 0; query < queryCount; query++) {
    const row = new Set<number>();
    for (const { positions, width } of sources)
      for (const position of positions.subarray(query * width, (query + 1) * width))
        if (position >= 0 && admits(query, position)) row.add(position);
    rows.push(row);
  }
  // Ids are compared once for all queries.
  const ordered = Int32Array.from(new Set(rows.flatMap((row) => [...row]))).sort(compareTies);
  const placeOf = new Map(Array.from(ordered, (position, place) => [position, place]));
  const width = Math.max(1, ...rows.map(({ size }) => size));
  const positions = new Int32Array(queryCount * width).fill(-1);
  for (const [query, row] of rows.entries()) {
    let pair = query * width;
    const places = Int32Array.from(row, (position) => placeOf.get(position) as number).sort();
    for (const place of places) positions[pair++] = ordered[place] as number;
  }
  return { queryCount, width, positions };
}

/** A score for each candidate of a pool, row-major [Q, C]; 0 where the pool is padded. */
export type Column = Float32Array;

/** Queries first … first + count - 1 of a pool. */
export interface PoolBatch {
  readonly pool: PoolRows;
  readonly first: number;
  readonly count: number;
}

/** Pairs of a query and a candidate in a batch of a column, unless {@link QUERY_BATCH} queries have more. */
const COLUMN_PAIRS = 2 ** 17;

/**
 * Computes a column batch by batch, in a scope each, and reads each batch back once. Padding is 0, whatever it is
 * computed to.
 */
export async function computeColumn(pool: PoolRows, compute: (batch: PoolBatch) => tf.Tensor2D): Promise<Column> {
  const column = new Float32Array(pool.positions.length);
  const queries = Math.max(QUERY_BATCH, Math.floor(COLUMN_PAIRS / pool.width));
  for (let first = 0; first < pool.queryCount; first += queries) {
    const batch = { pool, first, count: Math.min(queries, pool.queryCount - first) };
    column.set(await readBack('computeColumn', () => compute(batch)), first * pool.width); // [B, C]
  }
  for (let pair = 0; pair < column.length; pair++) if ((pool.positions[pair] as number) < 0) column[pair] = 0;
  return column;
}

/** The batch's part of an array with `size` numbers for each pair. */
export function sliceBatch<A extends Float32Array | Int32Array | Uint8Array>(
  array: A,
  { pool, first, count }: PoolBatch,
  size = 1,
): A {
  return array.subarray(first * pool.width * size, (first + count) * pool.width * size) as A;
}

/** @returns [B, C] */
export function uploadBatch(array: Float32Array | Int32Array, batch: PoolBatch): tf.Tensor2D {
  const type = array instanceof Int32Array ? 'int32' : 'float32';
  return tf.tensor2d(sliceBatch(array, batch), [batch.count, batch.pool.width], type);
}

/** A step between the data and a ranking: a pure function of its options and its inputs, known by its key before it is computed. */
export interface Stage {
  /** Lower-case words joined by hyphens, a folder's name. */
  readonly name: string;
  /** Hash of everything that the result depends on: name, options, the keys of the inputs, data, code. */
  readonly key: string;
  /** What it is computed from, and so what is made before it where the result itself is not kept. */
  readonly inputs: readonly Stage[];
  /** True if the result is kept on disk: not where computing it takes a few times less than writing and reading a file. */
  readonly isKept: boolean;
}

/** What a stage leaves: arrays of numbers, and plain JSON beside them. */
export type Artifact = Readonly<Record<string, unknown>>;

/** What a stage may return: a number, an array of numbers, or fields that each are an array of numbers or plain JSON. */
export type StageResult<T> = number | TensorData | { readonly [Field in keyof T]: TensorData | Json };
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Keeps what stages made, for other runs and other processes, here or behind a network. */
export interface StageStore {
  /** null if the stage is not stored. @throws ChecksumMismatchError for what was damaged. */
  read(stage: Stage): Artifact | null | Promise<Artifact | null>;
  write(stage: Stage, artifact: Artifact): void | Promise<void>;
}

/** Keeps nothing: what a workspace uses unless it is given another. */
export const KEEPS_NOTHING: StageStore = { read: () => null, write() {} };

/** The times that a stage was asked for, and its cost without that of its inputs. */
export interface StageCount extends Spent {
  /** Times that it was computed, found in memory and read from the store. */
  readonly executed: number;
  readonly memory: number;
  readonly disk: number;
}

/** By stage name. */
export type StageCounts = Readonly<Record<string, StageCount>>;

/** The count of a stage that was never asked for. */
export const NO_COUNT: StageCount = {
  ...{ executed: 0, memory: 0, disk: 0 },
  ...{ launches: 0, bytesRead: 0, seconds: 0, garbageSeconds: 0 },
};

/** The sums, for example over the workspaces of a run; names in alphabetical order. */
export function addCounts(...all: readonly StageCounts[]): StageCounts {
  const names = [...new Set(all.flatMap(Object.keys))].sort();
  return Object.fromEntries(names.map((name) => [name, all.reduce((sum, own) => addFields(sum, own[name]), NO_COUNT)]));
}

/** The sum over all stages. */
export function sumCounts(counts: StageCounts): StageCount {
  return Object.values(counts).reduce(addFields, NO_COUNT);
}

/** The name of a number or a single array. */
const VALUE = 'value';

function toArtifact(result: unknown): Artifact {
  return typeof result === 'number' || ArrayBuffer.isView(result) ? { [VALUE]: result } : (result as Artifact);
}

function fromArtifact(artifact: Artifact): unknown {
  return VALUE in artifact ? artifact[VALUE] : artifact;
}

/** Has each stage computed at most once: what is in memory is taken from there, then what the store holds, and only then is it made. */
export class StageResults {
  readonly #store: StageStore;
  readonly #results = new Map<string, Promise<unknown>>();
  #counts: Record<string, StageCount> = {};

  constructor(store: StageStore) {
    this.#store = store;
  }

  run<T extends StageResult<T>>(stage: Stage, compute: () => Promise<T> | T): Promise<T> {
    if (this.#results.has(stage.key)) this.#count(stage, { memory: 1 });
    return getOrCompute(this.#results, stage.key, () => this.#make(stage, compute)) as Promise<T>;
  }

  async #make<T extends StageResult<T>>(stage: Stage, compute: () => Promise<T> | T): Promise<T> {
    await letEventsIn();
    const stored = stage.isKept ? await this.#store.read(stage) : null;
    if (stored !== null) {
      this.#count(stage, { disk: 1 });
      return fromArtifact(stored) as T;
    }
    const { result, own } = await measureCost(compute);
    this.#count(stage, { executed: 1, ...own });
    if (stage.isKept) await this.#store.write(stage, toArtifact(result));
    return result;
  }

  #count({ name }: Stage, count: Partial<StageCount>): void {
    this.#counts[name] = addFields(this.#counts[name] ?? NO_COUNT, count);
  }

  /** Counts since they were last taken. */
  takeStageCounts(): StageCounts {
    const counts = addCounts(this.#counts);
    this.#counts = {};
    return counts;
  }

  clear(): void {
    this.#results.clear();
  }
}

interface Kept {
  readonly result: Promise<unknown>;
  /** The result, once it is there. */
  value?: unknown;
  /** True if it is of fewer turns than there are now. */
  isBehind: boolean;
}

/** Makes of a result of fewer turns the result of those that there are; null if it cannot. */
export type Grow<T> = (earlier: T) => Promise<T | null> | T | null;

function free(value: unknown): void {
  if (value !== null && typeof value === 'object' && 'dispose' in value && typeof value.dispose === 'function')
    value.dispose();
}

/**
 * Results that cannot be stored, such as tensors and indexes: made once for each key, kept until `dispose()`, which
 * disposes those that can be. Throws after it. What cannot be made fails for everyone who asks.
 */
export class Resources {
  readonly #kept = new Map<string, Kept>();
  #disposed = false;

  /** @throws ValidationError after `dispose()`. */
  assertAlive(asked: unknown): void {
    if (this.#disposed)
      throw new ValidationError(`workspace was disposed: ${JSON.stringify(asked)}; open a new workspace`);
  }

  /**
   * @param grow makes the result of more turns of one of fewer; without it, or with null, the result is made again.
   * @throws ValidationError after `dispose()`, also where that comes before the computation has begun.
   */
  async keepOnce<T>(key: unknown, compute: () => Promise<T> | T, grow?: Grow<T>): Promise<T> {
    this.assertAlive(key);
    const text = canonicalise(key);
    const before = this.#kept.get(text);
    if (before !== undefined && !before.isBehind) return before.result as Promise<T>;
    const result = this.#make(key, compute, grow, before?.result as Promise<T> | undefined);
    const kept: Kept = { result, isBehind: false };
    this.#kept.set(text, kept);
    const value = await result;
    if (this.#disposed) free(value);
    this.assertAlive(key);
    kept.value = value;
    return value;
  }

  async #make<T>(
    key: unknown,
    compute: () => Promise<T> | T,
    grow: Grow<T> | undefined,
    before: Promise<T> | undefined,
  ): Promise<T> {
    await letEventsIn();
    const earlier = await before?.catch(() => undefined);
    try {
      this.assertAlive(key);
      const grown = earlier === undefined || grow === undefined ? null : await grow(earlier);
      if (grown !== null) return grown;
    } catch (error) {
      free(earlier);
      throw error;
    }
    free(earlier);
    return compute();
  }

  /** There are more turns now: what is kept is of those before. */
  fallBehind(): void {
    for (const kept of this.#kept.values()) kept.isBehind = true;
  }

  dispose(): void {
    this.#disposed = true;
    for (const { value } of this.#kept.values()) free(value);
    this.#kept.clear();
  }
}

/** A turn or a conversation. */
type Part = Turn | Conversation;

/** Results that were computed of turns or conversations by themselves, for as long as these are there. */
export class PartResults {
  readonly #results = new Map<string, WeakMap<Part, unknown>>();

  /** @param key what is computed. */
  of<T>(key: unknown): WeakMap<Part, T> {
    return getOrCompute(this.#results, canonicalise(key), () => new WeakMap()) as WeakMap<Part, T>;
  }
}

/**
 * @param kept results by their parts.
 * @param compute the results of some parts; asked for those that have none yet.
 * @returns [parts]
 */
export async function computeMissing<P extends Part, T>(
  kept: WeakMap<Part, T>,
  parts: readonly P[],
  compute: (parts: readonly P[]) => Promise<readonly T[]> | readonly T[],
): Promise<T[]> {
  const missing = parts.filter((part) => !kept.has(part));
  if (missing.length > 0)
    for (const [i, result] of (await compute(missing)).entries()) kept.set(missing[i] as P, result);
  return parts.map((part) => kept.get(part) as T);
}
