import * as tf from '@tensorflow/tfjs-core';
import { gatherRows, multiplyRows } from '../../core/tensors/rows.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import { assertFilterNames } from '../../model/filter/filter.ts';
import { compareTurns } from '../../model/turns/conversation.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import { type MemoryRecord, toTurn } from '../../model/turns/turn.ts';
import { computeSimilarities } from '../../ops/selection/selection.ts';
import { loadSelection, type SelectionOptions } from '../../rank/rerank/registry.ts';
import { KnownEntities, listTurnEntities } from '../../rank/signals/asked-memories.ts';
import { type MemoryRow, MemorySegment } from './memory-segment.ts';
import type { MemorySourcesOptions } from './memory-sources-options.ts';

/** A memory that may be selected. */
export interface RankedMemory {
  readonly id: string;
  readonly score: number;
  /** The row of its vector. */
  readonly row: number;
}

/** The number of memories that a selection gives. */
export interface SelectionRange {
  /** The least number: if the selection takes fewer, the best others that are no duplicates follow. */
  readonly least: number;
  readonly most: number;
}

/**
 * The memories of a ranking that are shown: those that a selection takes among the best k, from `least` to `most`.
 *
 * @param ranked best first.
 * @param vectors row-major [N, D], unit rows or zero.
 * @throws ValidationError for options that the selection refuses.
 */
export async function selectMemories<T extends RankedMemory>(
  ranked: readonly T[],
  vectors: Float32Array,
  dimension: number,
  options: SelectionOptions,
  { least, most }: SelectionRange,
): Promise<T[]> {
  const top = ranked.slice(0, options.k);
  if (top.length === 0) return [];
  const select = await loadSelection(options);
  const largest = Math.max(...top.map(({ score }) => score));
  const relevance = top.map(({ score }) => (largest > 0 ? score / largest : 0));
  const rows = gatherRows(
    vectors,
    dimension,
    top.map(({ row }) => row),
  );
  const slots = await readBack('memories', () => {
    const inputs = {
      relevance: tf.tensor2d(relevance, [1, top.length]),
      similarities: computeSimilarities(tf.tensor3d(rows, [1, top.length, dimension])),
      mask: tf.ones([1, top.length], 'bool') as tf.Tensor2D,
    };
    return tf.cast(select(inputs, Math.min(most, top.length)).slots, 'float32');
  });
  const taken = Array.from(
    slots.filter((slot) => slot >= 0),
    (slot) => top[slot] as T,
  );
  const threshold = ('duplicateAbove' in options ? options.duplicateAbove : undefined) ?? Number.POSITIVE_INFINITY;
  for (const memory of top) {
    if (taken.length >= Math.min(least, most)) break;
    const isNew = ({ row }: T) => multiplyRows(vectors, row, vectors, memory.row, dimension) < threshold;
    if (!taken.includes(memory) && taken.every(isNew)) taken.push(memory);
  }
  return taken;
}

/** A memory engine, as sources follow it. */
export interface FollowedMemory {
  get(id: string): MemoryRecord | null;
  records(): Iterable<MemoryRecord>;
  /** See `Memory.watch`. */
  watch(notify: (ids: readonly string[]) => void): () => void;
}

/** A row before its entities are read. */
export type UnreadRow = Omit<MemoryRow, 'entities'>;

/** The row of a record, without its parent, which may be gone. Null for a record without a text. */
function toMemoryRow(record: MemoryRecord): UnreadRow | null {
  if (record.context.trim() === '') return null;
  return { turn: { ...toTurn(record), parentId: null }, vector: record.embedding };
}

/** The rows of all records that have a text. */
export function listMemoryRows(memory: FollowedMemory): UnreadRow[] {
  return Array.from(memory.records(), toMemoryRow).filter((row) => row !== null);
}

const hasEntities = ({ turn }: UnreadRow) => turn.attributes?.entities !== undefined;

/** A segment that has at most this many times the rows of a change is built again together with the change. */
const GROWTH = 4;

/**
 * The rows of sources, in segments that shrink from the first to the last. A change hides the old rows and makes a
 * segment of the new ones, so its cost is that of the change; segments of similar sizes become one, so that n
 * single changes cost O(n log n) in all.
 */
export class MemorySegments {
  readonly #dimension: number;
  readonly #options: MemorySourcesOptions;
  readonly #inTurn = createSerialRunner();
  readonly #memory: FollowedMemory | null;
  readonly #stop: () => void;
  #segments: readonly MemorySegment[] = [];
  /** Null where entities are the named things of texts; undefined after a change. */
  #known: { readonly times: Float64Array; readonly entities: KnownEntities } | null | undefined;
  /** The number of rows with entities of their own; if it is 0, entities are the named things of texts. */
  #given = 0;
  /** True if the segments were built with entities of their own. */
  #areGiven = false;
  /** The attributes that some row has or had. */
  readonly #attributes = new Set<string>();
  #noted = new Set<string>();
  #following = 0;
  #version = 0;
  #isDisposed = false;

  /** @param memory whose changes are followed; null: the rows never change. */
  constructor(memory: FollowedMemory | null, dimension: number, options: MemorySourcesOptions) {
    this.#memory = memory;
    this.#dimension = dimension;
    this.#options = options;
    this.#stop = memory?.watch((ids) => this.#note(ids)) ?? (() => {});
  }

  /** Changes whenever the rows do. */
  get version(): number {
    return this.#version;
  }

  #note(ids: Iterable<string>): void {
    this.#version++;
    for (const id of ids) this.#noted.add(id);
  }

  /** Adds the first rows. @throws as {@link MemorySegment.build}; InvalidFilterError as {@link follow} does. */
  async fill(rows: readonly UnreadRow[]): Promise<void> {
    await this.#inTurn(() => this.#add(rows));
    this.#assertFilter();
  }

  /** Without rows no attribute is known, and every filter finds nothing. */
  #assertFilter(): void {
    const { filter } = this.#options;
    if (filter !== null && this.#segments.length > 0) assertFilterNames(filter, this.#attributes, 'a memory');
  }

  /**
   * Brings the rows up to the memory. Costs nothing if nothing has changed.
   *
   * @throws as {@link MemorySegment.build}, and the next call tries again; InvalidFilterError for a filter by an
   * attribute that no row ever had and that may be misspelt.
   */
  async follow(): Promise<void> {
    if (this.#noted.size > 0 || this.#following > 0) {
      this.#following++;
      try {
        await this.#inTurn(() => this.#takeOver());
      } finally {
        this.#following--;
      }
    }
    this.#assertFilter();
  }

  async #takeOver(): Promise<void> {
    const ids = [...this.#noted];
    if (ids.length === 0) return;
    this.#noted = new Set();
    try {
      for (const id of ids) this.#hide(id);
      const records = ids.map((id) => this.#memory?.get(id) ?? null);
      await this.#add(records.flatMap((record) => (record === null ? [] : (toMemoryRow(record) ?? []))));
    } catch (error) {
      for (const id of ids) this.#noted.add(id);
      throw error;
    }
  }

  #hide(id: string): void {
    for (const segment of this.#segments) {
      const row = segment.hide(id);
      if (row !== undefined && hasEntities(row)) this.#given--;
    }
    this.#known = undefined;
  }

  async #add(rows: readonly UnreadRow[]): Promise<void> {
    for (const { turn } of rows) for (const name of Object.keys(turn.attributes ?? {})) this.#attributes.add(name);
    const given = this.#given + rows.filter(hasEntities).length;
    const areGiven = given > 0;
    const kept = [...this.#segments];
    const joined: MemorySegment[] = [];
    let fresh: readonly UnreadRow[] = rows;
    const isJoined = (segment: MemorySegment) =>
      areGiven !== this.#areGiven ||
      segment.size <= segment.hiddenSize ||
      (fresh.length > 0 && segment.size <= GROWTH * fresh.length);
    for (const segment of this.#segments.toReversed()) {
      if (!isJoined(segment)) continue;
      kept.splice(kept.indexOf(segment), 1);
      joined.push(segment);
      fresh = [...segment.list(), ...fresh];
    }
    if (fresh.length > 0) {
      const { entities } = await listTurnEntities(fresh.map(({ turn }) => turn));
      const isUnnamed = areGiven && !fresh.some(hasEntities);
      const read = fresh.map((row, i) => ({ ...row, entities: isUnnamed ? [] : (entities[i] as readonly string[]) }));
      kept.push(await MemorySegment.build(read, this.#dimension, this.#options));
    }
    this.#segments = kept;
    this.#given = given;
    this.#areGiven = areGiven;
    this.#known = undefined;
    for (const segment of joined) segment.retire();
    if (this.#isDisposed) this.dispose();
  }

  /** Runs a search over the segments, which stay until it is over. */
  async use<T>(search: (segments: readonly MemorySegment[]) => Promise<T>): Promise<T> {
    const segments = this.#segments;
    for (const segment of segments) segment.hold();
    try {
      return await search(segments);
    } finally {
      for (const segment of segments) segment.release();
    }
  }

  /** The entities that a question may name, and how many rows are earlier; null: the named things of texts. */
  readKnown(now: number): { readonly entities: KnownEntities | null; readonly cutoff: number } {
    this.#known ??= this.#areGiven ? this.#listKnown() : null;
    if (this.#known === null) return { entities: null, cutoff: 0 };
    return { entities: this.#known.entities, cutoff: findLowerBound(this.#known.times, now) };
  }

  #listKnown() {
    const rows = this.#segments.flatMap((segment) => segment.list()).sort((a, b) => compareTurns(a.turn, b.turn));
    return {
      times: Float64Array.from(rows, ({ turn }) => turn.timestamp),
      entities: new KnownEntities(rows.map(({ entities }) => entities)),
    };
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#stop();
    for (const segment of this.#segments) segment.retire();
  }
}
