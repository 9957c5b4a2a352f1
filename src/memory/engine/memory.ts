import { ValidationError } from '../../core/errors/errors.ts';
import type { JournalPosition } from '../../core/journal/position.ts';
import { parse } from '../../core/validation/validation.ts';
import { createSerialRunner, freezeDeeply } from '../../core/values/once.ts';
import type { VectorIndexOptions } from '../../index/vectors/registry.ts';
import { assertIndexable } from '../../index/vectors/vector-doors.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import { assertFilterNames, type Filter } from '../../model/filter/filter.ts';
import { readFilter } from '../../model/filter/filter-schema.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import {
  assertEmbedding,
  type MemoryRecord,
  type MemoryRecordInput,
  type OutcomeStatistics,
} from '../../model/turns/turn.ts';
import type { VectorMatch, VectorSearchOptions } from '../../model/vector-index.ts';
import type { ConservationGuard, MemoryConservation } from '../conservation/conservation-guard.ts';
import type { RecordChanges } from '../conservation/salience-stream.ts';
import {
  assertRecordsWithinRange,
  assertWithinRange,
  mergeOutcomeStatistics,
  type ObservedRecord,
  type OutcomePool,
} from '../outcomes/outcome-statistics.ts';
import { computePriors, type PriorBundle } from '../outcomes/prior-bundle.ts';
import type { RemovalOptions, RemovalReport } from '../removal/remove-where.ts';
import type { RemovalSelection } from '../removal/selection.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import type { StoreMoment } from '../store/record-history.ts';
import type { ArmRecordRanking } from './arm-ranking.ts';
import { rankCandidates } from './candidate-ranking.ts';
import type { FollowingIndex } from './following-index.ts';
import { GrowthSnapshots } from './growth-snapshots.ts';
import { type IndexAnswers, MemoryIndexes } from './index-registry.ts';
import type { MemoryOptions } from './memory-options.ts';
import {
  type ArmQuestion,
  armQuestionSchema,
  buildVisibility,
  type CheckedQuery,
  displayResponse,
  type QueryBundle,
  QueryCache,
  type QueryResponse,
  queryBundleSchema,
  type RankedRecords,
  runInTime,
} from './query-response.ts';
import type { RecordCoordinates } from './record-coordinates.ts';

/** The answer without its time, which is not kept. */
type TimelessResponse = Omit<QueryResponse, 'latency'>;

/** The answer of the arm of a memory. */
export interface ArmAnswer extends RankedRecords {
  /** Over the outcomes of the ranking. */
  readonly prior: PriorBundle;
}

/** A record to add. One without a vector gets that of its text, by the encoder of the arm. */
export type AddedRecord = Omit<MemoryRecordInput, 'embedding'> & Partial<Pick<MemoryRecordInput, 'embedding'>>;

/** Parts of a memory beside its store and its indexes; null: it has none. */
export interface MemoryParts {
  readonly guard: ConservationGuard;
  readonly coordinates?: RecordCoordinates | null;
  readonly ranking?: ArmRecordRanking | null;
}

/** What a search without priors may find, and where. */
export interface MemorySearchOptions extends Omit<VectorSearchOptions, 'signal' | 'filter'> {
  /** As a text or a tree. */
  readonly filter?: Filter | string;
  /** The indexes to search; absent: all. */
  readonly indexNames?: readonly string[];
}

/**
 * Records with outcomes, found by their embeddings: a store, the indexes that follow it, and priors over the outcomes of what a query finds. Open one with
 * `openMemory`. A write is in the store before it is acknowledged, and in every index before the next search. A write does not report an index that fails: the
 * next search brings the index up to the store, or throws what the index throws.
 */
export class Memory {
  readonly #options: MemoryOptions;
  readonly #store: MemoryStore;
  readonly #indexes: MemoryIndexes;
  readonly #cache: QueryCache<TimelessResponse>;
  readonly #growth: GrowthSnapshots;
  readonly #guard: ConservationGuard;
  readonly #coordinates: RecordCoordinates | null;
  readonly #ranking: ArmRecordRanking | null;
  /** For work on the files of indexes. */
  readonly #runAlone = createSerialRunner();
  #closed: Promise<void> | null = null;

  /** @internal `openMemory` makes memories. @param followers indexes by name, which know what they lack. */
  constructor(
    options: MemoryOptions,
    store: MemoryStore,
    followers: ReadonlyMap<string, FollowingIndex>,
    { guard, coordinates = null, ranking = null }: MemoryParts,
  ) {
    this.#options = options;
    this.#store = store;
    this.#indexes = new MemoryIndexes(store, followers);
    this.#cache = new QueryCache(options.cache);
    this.#growth = new GrowthSnapshots(store, options.snapshotBytes, () => this.#writeSnapshot());
    this.#guard = guard;
    this.#coordinates = coordinates;
    this.#ranking = ranking;
  }

  /** The number of records. */
  get size(): number {
    return this.#store.size;
  }

  /** The latest time of a record, in milliseconds since 1970; null without records. */
  get newestTime(): number | null {
    return this.#store.newestTime;
  }

  /** D of every embedding. */
  get dimension(): number {
    return this.#options.dimension;
  }

  /** The number of changes so far. */
  get sequence(): number {
    return this.#store.sequence;
  }

  /** The last change, and the history that ends with it. */
  get position(): JournalPosition {
    return this.#store.position;
  }

  /** Sentences about acknowledged changes that the opening found missing at the end, or that may be. */
  get warnings(): readonly string[] {
    return this.#store.warnings;
  }

  /** The conservation metrics, and the changes that broke a law of conservation. */
  get conservation(): MemoryConservation {
    return this.#guard;
  }

  /** Describes in a sentence that an acknowledged change was lost; null if it was not. @throws StorageError. */
  describeLoss(acknowledged: JournalPosition): string | null {
    return this.#store.describeLoss(acknowledged);
  }

  get indexNames(): readonly string[] {
    return this.#indexes.names;
  }

  /** A copy of the record: changing it does not change the memory. null for an unknown id. */
  get(id: string): MemoryRecord | null {
    return this.#store.get(id);
  }

  /** Copies of all records, in the order in which they were added. */
  records(): IterableIterator<MemoryRecord> {
    return this.#store.records();
  }

  /**
   * Calls a function with the ids of every later change, at the moment at which readers see the change. Observed outcomes
   * are no such change.
   *
   * @returns ends the calls.
   */
  watch(notify: (ids: readonly string[]) => void): () => void {
    return this.#store.watch(notify);
  }

  /**
   * Opens the memory as it was at a moment: one in this process alone, which answers as this one did then and refuses
   * changes. Its indexes are exact. O(records + versions). Close it.
   *
   * @param moment `{ sequence }`: after the change with this number. `{ known }`: after the last change until a time.
   * @throws ValidationError for a memory without a history, and for a moment that its history does not have.
   */
  async at(moment: StoreMoment): Promise<Memory> {
    this.#assertOpen();
    const { openMoment } = await import('./memory-moment.ts');
    this.#assertOpen();
    const { options, store, followers, guard } = await openMoment(this.#options, this.#store, moment);
    return new Memory(options, store, followers, { guard, ranking: this.#ranking?.over(store) ?? null });
  }

  /** Adds a record. @returns its id. @throws as {@link Memory.addBatch}. */
  async add(record: AddedRecord): Promise<string> {
    return (await this.addBatch([record]))[0] as string;
  }

  /**
   * Adds records, all or none.
   *
   * @returns their ids.
   * @throws ConfigurationError for a record that breaks the schema; DimensionMismatchError, NotFiniteError for its embedding; DuplicateRecordError for an id that
   * is there, or twice in the list; IndexCapacityError for more records than an index holds; ValidationError for an id of more than 2048 bytes or an embedding
   * longer than 1e18; ConservationViolationError if `conservation` refuses the change; StorageError.
   */
  async addBatch(records: readonly AddedRecord[]): Promise<string[]> {
    return this.#put(records, false);
  }

  /** Adds records, and replaces those whose id is there, with their statistics. @returns their ids. @throws as {@link Memory.addBatch}. */
  async upsert(records: readonly AddedRecord[]): Promise<string[]> {
    return this.#put(records, true);
  }

  async #put(records: readonly AddedRecord[], replace: boolean): Promise<string[]> {
    this.#assertOpen();
    const embedding = this.#ranking?.embed(records) ?? null;
    const complete = embedding === null ? records : await embedding;
    this.#assertOpen();
    const write = (all: readonly MemoryRecordInput[]) =>
      this.#guard.run((admit) =>
        this.#store.put(all, {
          replace,
          admit: (checked) => {
            this.#admit(checked);
            admit({ put: checked, removed: [] });
          },
        }),
      );
    const inputs = complete as readonly MemoryRecordInput[];
    await (this.#coordinates?.write(inputs, write) ?? write(inputs));
    await this.#followWrite();
    return records.map(({ id }) => id);
  }

  /** @internal A record with the coordinates that a write gives it. */
  place(record: MemoryRecord): MemoryRecord {
    return this.#coordinates?.place([record])[0] ?? record;
  }

  /** @internal Puts and removes records as a log of decisions says. @param isRefusable see `ChangedMemory.change`. */
  async change(changes: RecordChanges, isRefusable: boolean): Promise<void> {
    this.#assertOpen();
    await this.#guard.run(async (admit) => {
      if (isRefusable) admit(changes);
      await this.#store.put(changes.put, { replace: true, admit: (checked) => this.#admit(checked) });
      await this.#store.remove(changes.removed);
    });
    await this.#followWrite();
  }

  /** Refuses what an index would refuse once it is stored. */
  #admit(records: readonly MemoryRecord[]): void {
    // Texts are those of the schema, and vectors have the dimension of the store.
    for (const { id, embedding } of records) assertIndexable({ id, vector: embedding });
    assertRecordsWithinRange(records, this.#options.outcomeRange);
    this.#indexes.assertRoom(records);
  }

  /** Removes a record. @returns whether it was there. @throws ConservationViolationError as `addBatch`; StorageError. */
  async remove(id: string): Promise<boolean> {
    this.#assertOpen();
    const removed = await this.#guard.run((admit) => {
      admit({ put: [], removed: [id] });
      return this.#store.remove([id]);
    });
    await this.#followWrite();
    return removed > 0;
  }

  /**
   * Removes records and what was made of them: summaries, procedures, facts, the entries of logs in the folder of the
   * memory, their ids where other records name them, and their vectors in the cache that is passed. When the promise
   * resolves, no file of the folder has their texts, ids or vectors. If the process is killed before, nothing is
   * removed, or the next opening finishes the removal. All files are written again, also if no record is found.
   * O(records), and hnsw is built again.
   *
   * @param selection a filter, as a text or a tree; a conversation; or a person, the author or the attribute `userId`.
   * @returns what was removed, the conservation metrics before and after, and the judgements that were lost.
   * @throws ConfigurationError for a selection of another form; InvalidFilterError; UnavailableError naming the process
   *   that has a log of the folder open, such as that of a curator, which must be closed; ValidationError for a memory
   *   that is only read, and for an inner folder with a journal of something else; StorageError, and what an index
   *   throws: then the removal may be done in part, and the next one, or the next opening, finishes it.
   */
  async removeWhere(selection: RemovalSelection, options: RemovalOptions = {}): Promise<RemovalReport> {
    this.#assertOpen();
    const { removeWhere } = await import('../removal/remove-where.ts');
    this.#assertOpen();
    return this.#runAlone(async () => {
      const site = {
        readFilter: (filter: unknown) => this.#readFilter(filter),
        compactIndexes: () => this.#indexes.compact(),
        conservation: this.#options.conservation,
      };
      const report = await this.#guard.run(() => removeWhere(this.#store, selection, options, site));
      if (options.dryRun !== true) this.#cache.clear();
      return report;
    });
  }

  async #followWrite(): Promise<void> {
    await this.#indexes.follow();
    this.#growth.consider();
  }

  #assertOpen(): void {
    if (this.#closed !== null) throw new ValidationError('memory is closed; open it again');
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
    const { found } = await this.#searchInTime(embedding, k, { ...options, indexNames: [indexName] });
    return found.get(indexName) as readonly VectorMatch[];
  }

  /**
   * What the indexes find, fused, without priors, trajectories or a reranker: at most k records, best first. Of several indexes each finds `poolSize`.
   *
   * @param embedding [D]
   * @throws IndexNotFoundError; DimensionMismatchError; NotFiniteError; InvalidFilterError; QueryTimeoutError, and what an index throws.
   */
  async searchOnly(
    embedding: Float32Array,
    k: number = this.#options.defaultK,
    options: MemorySearchOptions = {},
  ): Promise<readonly Scored[]> {
    const { indexNames = this.indexNames } = options;
    const isFused = indexNames.length > 1 && Number.isInteger(k) && k > 0;
    const found = isFused ? Math.max(k, this.#options.poolSize) : k;
    const { ranking } = await this.#searchInTime(embedding, found, options);
    return ranking.slice(0, k).map(({ id, score }) => ({ id, score }));
  }

  /** Searches indexes within the time that a query may take. */
  async #searchInTime(embedding: Float32Array, k: number, options: MemorySearchOptions): Promise<IndexAnswers> {
    this.#assertOpen();
    assertEmbedding(embedding, this.dimension, 'a query');
    const { indexNames = this.indexNames, filter, ...others } = options;
    const found = filter === undefined ? {} : { filter: this.#readFilter(filter) };
    this.#indexes.assertKnown(indexNames);
    const own = embedding.slice(); // the caller may change what was passed
    await this.#indexes.build(indexNames);
    return runInTime(this.#options.timeoutMs, (signal) =>
      this.#indexes.search(own, k, { ...others, ...found, signal, names: indexNames, fusion: this.#options.fusion }),
    );
  }

  /**
   * The best candidates of a query, and the prior over their outcomes.
   *
   * @throws ConfigurationError for a query that breaks the schema; DimensionMismatchError; NotFiniteError; InvalidFilterError; IndexNotFoundError; QueryError
   * for a memory without an index, or for scores that a reranker makes infinite; QueryTimeoutError beyond `timeoutMs`; and what an index throws.
   */
  async query(bundle: QueryBundle): Promise<QueryResponse> {
    this.#assertOpen();
    const start = performance.now();
    const query = this.#check(bundle);
    const answer = await this.#cache.answer(query, this.#store.sequence, async () => {
      await this.#indexes.build(query.indexNames ?? this.indexNames);
      return freezeDeeply(await runInTime(this.#options.timeoutMs, (signal) => this.#answer(query, signal)));
    });
    return displayResponse({ ...answer, latency: performance.now() - start });
  }

  /**
   * What the arm of this memory ranks for a question, as a run of its experiment ranks it, and the prior over the
   * outcomes of these records.
   *
   * @throws ConfigurationError for a question that breaks the schema; ValidationError for a memory without an arm, and
   * for an anchor that is no record; what the steps of the arm and its encoder throw.
   */
  async ask(question: ArmQuestion): Promise<ArmAnswer> {
    this.#assertOpen();
    const checked = parse(armQuestionSchema, question, 'a question');
    if (this.#ranking === null)
      throw new ValidationError('memory has no arm to answer by; open it with the option arm');
    const { ranking, ...facts } = await this.#ranking.rank(checked);
    const found = ranking.flatMap(({ id, score }) => {
      const record = this.#store.get(id);
      return record === null ? [] : [{ record, score }];
    });
    const weights = checked.weighted ? found.map(({ score }) => Math.max(0, score)) : null;
    const records = found.map(({ record }) => record);
    return { ranking, prior: this.computePriors(records, weights, checked.pool), ...facts };
  }

  /** A filter by attributes that records have. Without records no attribute is known, and every filter finds nothing. */
  #readFilter(input: unknown): Filter {
    const filter = readFilter(input);
    if (this.size > 0) assertFilterNames(filter, this.#store.attributes, 'a record');
    return filter;
  }

  /** A query of its own: the caller may change what was passed. */
  #check({ filter, ...rest }: QueryBundle): CheckedQuery {
    const found = filter === undefined ? {} : { filter: this.#readFilter(filter) };
    const { embedding, variables, ...query } = parse(queryBundleSchema, { ...rest, ...found }, 'a query');
    assertEmbedding(embedding, this.dimension, 'a query');
    if (query.filter !== undefined) bindFilter(query.filter, variables); // NaN and 'NaN' have one key in the cache
    this.#indexes.assertKnown(query.indexNames ?? []);
    const own = { ...query, embedding: embedding.slice() };
    return variables === undefined ? own : { ...own, variables: structuredClone(variables) };
  }

  async #answer(query: CheckedQuery, signal: AbortSignal): Promise<TimelessResponse> {
    const { defaultK, poolSize, reranker, fusion } = this.#options;
    const { k = defaultK, indexNames = this.indexNames, weighted } = query;
    const isReordered = reranker !== null || query.trajectory !== undefined || indexNames.length > 1;
    const wanted = isReordered ? Math.max(k, poolSize) : k;
    const answers = await this.#indexes.searchUnchanged(query.embedding, wanted, {
      ...buildVisibility(query),
      ...{ signal, names: indexNames, fusion },
    });
    const read = (id: string) => this.#store.get(id);
    const { candidates, records } = await rankCandidates(answers, { query, k, reranker, read });
    const weights = weighted ? candidates.map(({ score }) => Math.max(0, score)) : null;
    const prior = this.computePriors(records, weights, query.pool);
    return { prior, candidates, indexesSearched: [...answers.found.keys()] };
  }

  /** The prior over the outcomes of records, all alike or weighted. @throws as `computePriors` of the room `memory`. */
  computePriors(
    records: readonly ObservedRecord[],
    weights: ArrayLike<number> | null = null,
    pool: OutcomePool = 'both',
  ): PriorBundle {
    const { kappa, outcomeRange: range } = this.#options;
    return computePriors(records, weights, { kappa, range, pool });
  }

  /**
   * Adds an outcome that was observed after the record was made.
   *
   * @returns the statistics with it.
   * @throws RecordNotFoundError; NotFiniteError; ValidationError beyond 2^53 - 1 or the range of outcomes; StorageError.
   */
  async updateStats(id: string, outcome: number): Promise<OutcomeStatistics> {
    this.#assertOpen();
    assertWithinRange(this.#options.outcomeRange, outcome, outcome, `record ${id}`);
    const stats = await this.#store.observe(id, outcome);
    this.#growth.consider();
    return stats;
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
    this.#assertOpen();
    return this.#writeSnapshot();
  }

  #writeSnapshot(): Promise<void> {
    return this.#runAlone(async () => {
      await this.#store.snapshot();
      for (const name of this.indexNames) await this.#saveIndex(name);
    });
  }

  #saveIndex(name: string): Promise<void> {
    return this.#indexes.save(name, this.#options.indexes[name] as VectorIndexOptions);
  }

  /**
   * Saves the indexes, ends all writes, and closes the indexes and the store. Later calls are errors, but for this one.
   *
   * @throws StorageError, and what an index throws; everything is closed then too.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const errors: unknown[] = [];
    const steps = [
      () => this.#runAlone(async () => {}),
      async () => this.#coordinates?.end(),
      () => this.#guard.end(),
      () => this.#growth.end(),
      async () => this.#ranking?.dispose(),
      ...this.indexNames.map((name) => () => this.#saveIndex(name)),
      ...this.indexNames.map((name) => () => this.#indexes.dispose(name)),
      () => this.#store.close(),
    ];
    for (const step of steps) await step().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }
}
