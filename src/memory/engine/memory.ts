import type { VectorIndexOptions } from '../../candidates/live/registry.ts';
import { QueryTimeoutError } from '../../core/errors.ts';
import { parse } from '../../core/validation.ts';
import type { Filter } from '../../model/filter/filter.ts';
import { readFilter } from '../../model/filter/filter-schema.ts';
import { assertEmbedding, type MemoryRecord, type OutcomeStatistics } from '../../model/memory-record.ts';
import type { MemoryRecordInput } from '../../model/memory-record-schema.ts';
import type { Scored } from '../../model/tie-rule.ts';
import type { VectorMatch, VectorSearchOptions } from '../../model/vector-index.ts';
import { mergeOutcomeStatistics } from '../outcome-statistics.ts';
import { computePriors, type PriorBundle } from '../prior-bundle.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { rankCandidates } from './candidate-ranking.ts';
import type { FollowingIndex } from './following-index.ts';
import { saveIndex } from './index-folder.ts';
import { type IndexAnswers, IndexRegistry } from './index-registry.ts';
import type { MemoryOptions } from './memory-options.ts';
import { type CheckedQuery, type QueryBundle, queryBundleSchema } from './query-bundle.ts';
import { QueryCache } from './query-cache.ts';
import type { QueryResponse } from './query-response.ts';

/** The answer without its time, which is not kept. */
type TimelessResponse = Omit<QueryResponse, 'latency'>;

/** What a search without priors may find, and where. */
export interface MemorySearchOptions extends Omit<VectorSearchOptions, 'signal' | 'filter'> {
  /** As a text or a tree. */
  readonly filter?: Filter | string;
  /** The indexes to search; absent: all. */
  readonly indexNames?: readonly string[];
}

/**
 * Records with outcomes, found by their embeddings: a store, the indexes that follow it, and priors over the outcomes of what a query finds. Open one with
 * `openMemory`. A write is in the store before it is acknowledged, and in every index before the next search.
 */
export class Memory {
  readonly #options: MemoryOptions;
  readonly #store: MemoryStore;
  readonly #registry = new IndexRegistry();
  readonly #followers: ReadonlyMap<string, FollowingIndex>;
  readonly #cache: QueryCache<TimelessResponse>;

  /** @internal `openMemory` makes memories. @param followers indexes by name, which know what they lack. */
  constructor(options: MemoryOptions, store: MemoryStore, followers: ReadonlyMap<string, FollowingIndex>) {
    this.#options = options;
    this.#store = store;
    this.#followers = followers;
    this.#cache = new QueryCache(options.cache);
    for (const [name, { index }] of followers) this.#registry.register(name, index);
  }

  /** The number of records. */
  get size(): number {
    return this.#store.size;
  }

  /** D of every embedding. */
  get dimension(): number {
    return this.#options.dimension;
  }

  /** The number of changes so far. */
  get sequence(): number {
    return this.#store.sequence;
  }

  get indexNames(): readonly string[] {
    return this.#registry.names;
  }

  /** A copy of the record: changing it does not change the memory. null for an unknown id. */
  get(id: string): MemoryRecord | null {
    return this.#store.get(id);
  }

  /** Copies of all records, in the order in which they were added. */
  records(): IterableIterator<MemoryRecord> {
    return this.#store.records();
  }

  /** Adds a record. @returns its id. @throws as {@link Memory.addBatch}. */
  async add(record: MemoryRecordInput): Promise<string> {
    return (await this.addBatch([record]))[0] as string;
  }

  /**
   * Adds records, all or none.
   *
   * @returns their ids.
   * @throws ConfigurationError for a record that breaks the schema; DimensionMismatchError, NotFiniteError for its embedding; DuplicateRecordError for an id that
   * is there, or twice in the list; StorageError.
   */
  async addBatch(records: readonly MemoryRecordInput[]): Promise<string[]> {
    return this.#put(records, false);
  }

  /** Adds records, and replaces those whose id is there, with their statistics. @returns their ids. @throws as {@link Memory.addBatch}. */
  async upsert(records: readonly MemoryRecordInput[]): Promise<string[]> {
    return this.#put(records, true);
  }

  async #put(records: readonly MemoryRecordInput[], replace: boolean): Promise<string[]> {
    await this.#store.put(records, { replace });
    const ids = records.map(({ id }) => id);
    await this.#follow(ids);
    return ids;
  }

  /** Removes a record. @returns whether it was there. @throws StorageError. */
  async remove(id: string): Promise<boolean> {
    const removed = await this.#store.remove([id]);
    await this.#follow([id]);
    return removed > 0;
  }

  async #follow(ids: readonly string[]): Promise<void> {
    for (const follower of this.#followers.values()) follower.note(ids);
    await this.#catchUp(this.indexNames);
  }

  async #catchUp(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#followers.get(name)?.catchUp();
  }

  /**
   * What one index finds: at most k matches, best first, with their distances.
   *
   * @param embedding [D]
   * @throws as {@link Memory.searchOnly}.
   */
  async search(
    indexName: string,
    embedding: Float32Array,
    k: number = this.#options.defaultK,
    options: Omit<MemorySearchOptions, 'indexNames'> = {},
  ): Promise<readonly VectorMatch[]> {
    const { found } = await this.#search(embedding, k, { ...options, indexNames: [indexName] });
    return found.get(indexName) as readonly VectorMatch[];
  }

  /**
   * What the indexes find, fused, without priors, trajectories or a reranker: at most k records, best first.
   *
   * @param embedding [D]
   * @throws IndexNotFoundError; DimensionMismatchError; NotFiniteError; InvalidFilterError; QueryTimeoutError, and what an index throws.
   */
  async searchOnly(
    embedding: Float32Array,
    k: number = this.#options.defaultK,
    options: MemorySearchOptions = {},
  ): Promise<readonly Scored[]> {
    const { ranking } = await this.#search(embedding, k, options);
    return ranking.slice(0, k).map(({ id, score }) => ({ id, score }));
  }

  /** Searches indexes within the time that a query may take. */
  async #search(
    embedding: Float32Array,
    k: number,
    { indexNames = this.indexNames, filter, ...options }: MemorySearchOptions,
  ): Promise<IndexAnswers> {
    assertEmbedding(embedding, this.dimension, 'a query');
    const found = filter === undefined ? {} : { filter: readFilter(filter) };
    for (const name of indexNames) this.#registry.get(name);
    return this.#runInTime(async (signal) => {
      await this.#catchUp(indexNames);
      return this.#registry.searchAll(embedding, k, {
        ...options,
        ...found,
        names: indexNames,
        fusion: this.#options.fusion,
        signal,
      });
    });
  }

  async #runInTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    const start = performance.now();
    const createTimeout = () => new QueryTimeoutError(performance.now() - start, timeoutMs);
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(createTimeout()), timeoutMs);
    const ended = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
    });
    try {
      const result = await Promise.race([work(controller.signal), ended]);
      if (performance.now() - start > timeoutMs) throw createTimeout(); // a search that did not let the timer run
      return result;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * The best candidates of a query, and the prior over their outcomes.
   *
   * @throws ConfigurationError for a query that breaks the schema; DimensionMismatchError; NotFiniteError; InvalidFilterError; IndexNotFoundError;
   * QueryTimeoutError beyond `timeoutMs`; and what an index throws.
   */
  async query(bundle: QueryBundle): Promise<QueryResponse> {
    const start = performance.now();
    const { filter, ...rest } = bundle;
    const found = filter === undefined ? {} : { filter: readFilter(filter) };
    const query = parse(queryBundleSchema, { ...rest, ...found }, 'a query');
    const answer = await this.#cache.answer(query, this.#store.sequence, () => this.#answer(query));
    return { ...answer, latency: performance.now() - start };
  }

  async #answer(query: CheckedQuery): Promise<TimelessResponse> {
    const { defaultK, poolSize, reranker } = this.#options;
    const { k = defaultK, indexNames = this.indexNames, weighted } = query;
    const isReordered = reranker !== null || query.trajectory !== undefined || indexNames.length > 1;
    const answers = await this.#search(query.embedding, isReordered ? Math.max(k, poolSize) : k, {
      indexNames,
      ...buildVisibility(query),
    });
    const read = (id: string) => this.#store.get(id);
    const { candidates, records } = await rankCandidates(answers, { query, k, reranker, read });
    const weights = weighted ? candidates.map(({ score }) => Math.max(0, score)) : null;
    return { prior: this.computePriors(records, weights), candidates, indexesSearched: [...answers.found.keys()] };
  }

  /** The prior over the outcomes of records, all alike or weighted. @throws as `computePriors` of the room `memory`. */
  computePriors(
    records: readonly Pick<MemoryRecord, 'outcome'>[],
    weights: ArrayLike<number> | null = null,
  ): PriorBundle {
    return computePriors(records, weights, { kappa: this.#options.kappa });
  }

  /**
   * Adds an outcome that was observed after the record was made. Priors do not pool it.
   *
   * @returns the statistics with it.
   * @throws RecordNotFoundError; NotFiniteError; ValidationError beyond 1e140; StorageError.
   */
  async updateStats(id: string, outcome: number): Promise<OutcomeStatistics> {
    return this.#store.observe(id, outcome);
  }

  /** What was observed of a record after it was made; null for an unknown id. */
  getStats(id: string): OutcomeStatistics | null {
    return this.#store.get(id)?.stats ?? null;
  }

  /** The statistics of the outcomes of both. @throws ValidationError for statistics that contradict themselves. */
  mergeStats(a: OutcomeStatistics, b: OutcomeStatistics): OutcomeStatistics {
    return mergeOutcomeStatistics(a, b);
  }

  /** Writes a snapshot of the store, and the indexes as they then are, so that the memory opens without its journal. @throws StorageError. */
  async snapshot(): Promise<void> {
    await this.#store.snapshot();
    await this.#saveIndexes();
  }

  async #saveIndexes(): Promise<void> {
    for (const [name, follower] of this.#followers)
      await saveIndex(this.#store, name, follower, this.#options.indexes[name] as VectorIndexOptions);
  }

  /** Ends all writes, saves the indexes, and closes them and the store. @throws StorageError; the store is closed then too. */
  async close(): Promise<void> {
    try {
      await this.#saveIndexes();
      for (const { index } of this.#followers.values()) await index.dispose();
    } finally {
      await this.#store.close();
    }
  }
}

/** The filter of a query together with its time. */
function buildVisibility({ filter, variables, asOf }: CheckedQuery): MemorySearchOptions {
  const parts: Filter[] = filter === undefined ? [] : [filter];
  if (asOf !== undefined) parts.push({ op: '<', field: 'timestamp', value: asOf });
  const [first, second] = parts;
  if (first === undefined) return {};
  const combined: Filter = second === undefined ? first : { op: 'and', of: parts };
  return variables === undefined ? { filter: combined } : { filter: combined, variables };
}
