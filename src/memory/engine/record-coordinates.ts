import { createSerialRunner, getOrCompute } from '../../core/values/once.ts';
import { compareTurns } from '../../model/turns/conversation.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import {
  assertEmbedding,
  type MemoryRecord,
  type MemoryRecordInput,
  type Turn,
  toTurn,
} from '../../model/turns/turn.ts';
import { countComponents } from '../../ops/trajectory/complexity.ts';
import { openFrames } from '../../ops/trajectory/frame-tables.ts';
import { computeHomogeneities, computeSquaredLengths } from '../../ops/trajectory/homogeneity.ts';
import { readNewestCoordinates } from '../../ops/trajectory/newest-coordinates.ts';
import { parseRecords } from '../store/own-records.ts';

/** The records of a store, as coordinates read them. */
export interface PlacedRecords {
  records(): Iterable<MemoryRecord>;
  get(id: string): MemoryRecord | null;
  watch(notify: (ids: readonly string[]) => void): () => void;
}

/** Turns with a text in the order of their times, each with the parent that it has among the earlier ones. */
function toCorpus(turns: Iterable<Turn>): Corpus {
  const before = new Map<string, string>();
  const ordered = [...turns]
    .filter(({ text }) => text.trim() !== '')
    .sort(compareTurns)
    .map((turn) => {
      const isParent = turn.parentId !== null && before.get(turn.parentId) === turn.conversationId;
      before.set(turn.id, turn.conversationId);
      return isParent ? turn : { ...turn, parentId: null };
    });
  return new Corpus(ordered);
}

/** Tables whose homogeneity is not read need no vectors. */
const NO_VECTORS = new Float32Array(0);

/**
 * Gives records that come without a trajectory the five coordinates that they have as the newest turn of their
 * conversation: of the earlier records that are known when it is written, no later ones. Records without a text have
 * none. The first write reads every record. Then a write costs O(T log T) for the T turns of its conversations, and
 * O(D) for each of its records.
 */
export class RecordCoordinates {
  readonly #store: PlacedRecords;
  readonly #dimension: number;
  readonly #inTurn = createSerialRunner();
  /** By conversation and id; null until the first write. */
  #turns: Map<string, Map<string, Turn>> | null = null;
  /** The conversation of each id. */
  readonly #conversations = new Map<string, string>();
  /** Semantic components of the text of a record, by id. */
  readonly #components = new Map<string, { readonly text: string; readonly count: number }>();

  /** @param dimension D */
  constructor(store: PlacedRecords, dimension: number) {
    this.#store = store;
    this.#dimension = dimension;
  }

  /** Writes records with coordinates, after the writes before it, whose records it knows. @throws as {@link place}. */
  write<T>(records: readonly MemoryRecordInput[], write: (placed: readonly MemoryRecord[]) => Promise<T>): Promise<T> {
    return this.#inTurn(() => write(this.place(records)));
  }

  /** Waits for the writes so far. */
  end(): Promise<void> {
    return this.#inTurn(async () => {});
  }

  /**
   * @returns the records with their defaults; those that have a trajectory keep it.
   * @throws ConfigurationError for a record with wrong fields; DimensionMismatchError, NotFiniteError for its embedding.
   */
  place(inputs: readonly MemoryRecordInput[]): MemoryRecord[] {
    const records = parseRecords(inputs);
    for (const { id, embedding } of records) assertEmbedding(embedding, this.#dimension, `record ${id}`);
    if (records.every(({ trajectory }) => trajectory !== null)) return records;
    const corpus = toCorpus(this.#listTurns(records));
    const components = Int32Array.from(corpus.turns, ({ id, text }) => this.#countComponents(id, text));
    const frames = openFrames(corpus, NO_VECTORS, components);
    const homogeneity = this.#computeHomogeneities(records, corpus);
    return records.map((record, i) => {
      const position = corpus.findPosition(record.id);
      if (record.trajectory !== null || position < 0) return record;
      const tables = frames.tables(corpus.conversationOf[position] as number);
      const coordinates = readNewestCoordinates(tables, corpus.ringPosition[position] as number);
      const trajectory = { ...coordinates, homogeneity: homogeneity[i] as number };
      return { ...record, trajectory };
    });
  }

  /** The cosine of each record to its parent in the corpus. [records] */
  #computeHomogeneities(records: readonly MemoryRecord[], corpus: Corpus): Float64Array {
    const [count, dimension] = [records.length, this.#dimension];
    const added = new Map(records.map((record) => [record.id, record]));
    const vectors = new Float32Array(2 * count * dimension); // the records, then their parents
    const parents = records.map(({ id, embedding }, i) => {
      vectors.set(embedding, i * dimension);
      const above = corpus.parent[corpus.findPosition(id)] ?? -1;
      if (above < 0) return -1;
      const parent = (corpus.turns[above] as Turn).id;
      vectors.set((added.get(parent) ?? (this.#store.get(parent) as MemoryRecord)).embedding, (count + i) * dimension);
      return count + i;
    });
    const squares = computeSquaredLengths(vectors, dimension, 2 * count);
    return computeHomogeneities(vectors, squares, dimension, Int32Array.from(parents));
  }

  #countComponents(id: string, text: string): number {
    const counted = this.#components.get(id);
    if (counted?.text === text) return counted.count;
    const count = countComponents(text);
    this.#components.set(id, { text, count });
    return count;
  }

  /** The turns of the conversations of some records, which take the place of records with their ids. */
  #listTurns(records: readonly MemoryRecord[]): Iterable<Turn> {
    const known = this.#read();
    const found = new Map<string, Turn>();
    for (const conversation of new Set(records.map(({ conversationId }) => conversationId)))
      for (const [id, turn] of known.get(conversation) ?? []) found.set(id, turn);
    for (const record of records) found.set(record.id, toTurn(record));
    return found.values();
  }

  #read(): Map<string, Map<string, Turn>> {
    if (this.#turns !== null) return this.#turns;
    const turns = new Map<string, Map<string, Turn>>();
    const add = (record: MemoryRecord) => {
      const { id, conversationId } = record;
      getOrCompute(turns, conversationId, () => new Map()).set(id, toTurn(record));
      this.#conversations.set(id, conversationId);
    };
    for (const record of this.#store.records()) add(record);
    this.#store.watch((ids) => {
      for (const id of ids) {
        turns.get(this.#conversations.get(id) as string)?.delete(id);
        this.#conversations.delete(id);
        const record = this.#store.get(id);
        if (record === null) this.#components.delete(id);
        else add(record);
      }
    });
    this.#turns = turns;
    return turns;
  }
}
