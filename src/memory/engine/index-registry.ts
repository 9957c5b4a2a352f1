import { IndexCapacityError, IndexNotFoundError, QueryError, ValidationError } from '../../core/errors/errors.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import type { VectorIndexOptions } from '../../index/vectors/registry.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { VectorIndex, VectorMatch, VectorSearchOptions } from '../../model/vector-index.ts';
import { fuseLists, parseFusion } from '../../ops/fusion/registry.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import type { FollowingIndex } from './following-index.ts';
import { saveIndex } from './index-folder.ts';

/** What several indexes found for one query. */
export interface IndexAnswers {
  /** Best first by the tie rule; the scores are those of the one index, or fused. */
  readonly ranking: readonly Scored[];
  /** What each index found, best first. */
  readonly found: ReadonlyMap<string, readonly VectorMatch[]>;
}

/** The method of fusion by name, or with its options. */
type FusionChoice = string | Readonly<Record<string, unknown>>;

/** Vector indexes by name, searched together. */
export class IndexRegistry {
  readonly #indexes = new Map<string, VectorIndex>();

  /** In the order in which they were registered. */
  get names(): readonly string[] {
    return [...this.#indexes.keys()];
  }

  /** @throws ValidationError for a name that is taken. */
  register(name: string, index: VectorIndex): void {
    if (this.#indexes.has(name))
      throw new ValidationError(`an index has this name: ${name}; choose another name`, { name });
    this.#indexes.set(name, index);
  }

  /** @throws IndexNotFoundError. */
  get(name: string): VectorIndex {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new IndexNotFoundError(name, suggestKnown(name, this.names));
    return index;
  }

  /**
   * Searches indexes for one query and fuses what they find.
   *
   * @param query [D]
   * @param k the most that each index finds.
   * @param names the indexes; absent: all of them.
   * @param fusion of the lists of several indexes; any of the project's fusions, see docs/fusion.md.
   * @throws IndexNotFoundError; QueryError for no index; ConfigurationError for a fusion that does not exist; DimensionMismatchError.
   */
  async searchAll(
    query: Float32Array,
    k: number,
    {
      names = this.names,
      fusion = 'rrf',
      ...options
    }: VectorSearchOptions & {
      readonly names?: readonly string[];
      readonly fusion?: FusionChoice;
    } = {},
  ): Promise<IndexAnswers> {
    const indexes = [...new Set(names)].map((name) => [name, this.get(name)] as const);
    if (indexes.length === 0) throw new QueryError('no index to search; register an index or name one');
    const chosen = parseFusion(fusion, 'the fusion of several indexes');
    const found = new Map<string, readonly VectorMatch[]>();
    for (const [name, index] of indexes) {
      found.set(name, (await index.search(query, k, options))[0] as VectorMatch[]);
      options.signal?.throwIfAborted();
    }
    const [first] = found.values();
    const ranking = found.size === 1 ? (first as readonly VectorMatch[]) : fuseLists(Object.fromEntries(found), chosen);
    return { ranking, found };
  }
}

/** The indexes of a memory, which follow its store. */
export class MemoryIndexes {
  readonly #store: MemoryStore;
  readonly #followers: ReadonlyMap<string, FollowingIndex>;
  readonly #registry = new IndexRegistry();

  /** @param followers indexes by name, which know what they lack. */
  constructor(store: MemoryStore, followers: ReadonlyMap<string, FollowingIndex>) {
    this.#store = store;
    this.#followers = followers;
    for (const [name, { index }] of followers) this.#registry.register(name, index);
  }

  get names(): readonly string[] {
    return this.#registry.names;
  }

  /** @throws IndexNotFoundError for a name that no index has. */
  assertKnown(names: readonly string[]): void {
    for (const name of names) this.#registry.get(name);
  }

  /** Refuses records that an index has no room for. @throws IndexCapacityError. */
  assertRoom(records: readonly Pick<MemoryRecord, 'id'>[]): void {
    const { size } = this.#store;
    const limits = Array.from(this.#followers, ([name, { index }]) => ({ name, capacity: index.capacity ?? Infinity }));
    if (limits.every(({ capacity }) => size + records.length <= capacity)) return;
    const wanted = size + records.filter(({ id }) => !this.#store.has(id)).length;
    for (const { name, capacity } of limits)
      if (wanted > capacity)
        throw new IndexCapacityError(name, capacity, wanted, 'remove records, raise its capacity, or use pgvector');
  }

  /** Brings every index up to the store, also if one fails, which the next search reports. */
  async follow(): Promise<void> {
    await Promise.allSettled(Array.from(this.#followers.values(), (follower) => follower.catchUp()));
  }

  /** Brings every index up to the store, and frees what removed records have left in it. @throws what an index throws. */
  async compact(): Promise<void> {
    for (const follower of this.#followers.values()) await follower.compact();
  }

  /**
   * Brings indexes up to the store and makes them ready, before a query is timed: to build one may take longer than a
   * query may.
   *
   * @throws what an index throws.
   */
  async build(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#followers.get(name)?.build();
  }

  /** Searches indexes that are brought up to the store. @throws what an index throws. */
  async search(
    embedding: Float32Array,
    k: number,
    options: VectorSearchOptions & { readonly names: readonly string[]; readonly fusion: FusionChoice },
  ): Promise<IndexAnswers> {
    for (const name of options.names) await this.#followers.get(name)?.catchUp();
    return this.#registry.searchAll(embedding, k, options);
  }

  /** Searches until no record that was found changed meanwhile, so that scores are those of the records as they are. */
  async searchUnchanged(...question: Parameters<MemoryIndexes['search']>): Promise<IndexAnswers> {
    for (;;) {
      const { sequence } = this.#store;
      const answers = await this.search(...question);
      const isUnchanged = answers.ranking.every(({ id }) => !this.#store.hasChangedSince(id, sequence));
      if (isUnchanged) return answers;
    }
  }

  /** Saves one index as it then is. @throws StorageError. */
  save(name: string, options: VectorIndexOptions): Promise<void> {
    return saveIndex(this.#store, name, this.#followers.get(name) as FollowingIndex, options);
  }

  /** Closes one index. @throws what it throws. */
  dispose(name: string): Promise<void> {
    return (this.#followers.get(name) as FollowingIndex).index.dispose();
  }
}
