import { IndexCapacityError } from '../../core/errors/errors.ts';
import type { VectorIndexOptions } from '../../index/vectors/registry.ts';
import type { VectorSearchOptions } from '../../model/vector-index.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import type { FollowingIndex } from './following-index.ts';
import { saveIndex } from './index-folder.ts';
import { type FusionChoice, type IndexAnswers, IndexRegistry } from './index-registry.ts';

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

  /** Refuses new records that an index has no room for. @throws IndexCapacityError. */
  assertRoom(added: number): void {
    const wanted = this.#store.size + added;
    for (const [name, { index }] of this.#followers)
      if (index.capacity !== undefined && wanted > index.capacity)
        throw new IndexCapacityError(
          name,
          index.capacity,
          wanted,
          'remove records, raise its capacity, or use pgvector',
        );
  }

  /** Brings every index up to the store, also if one fails, which the next search reports. */
  async follow(): Promise<void> {
    await Promise.allSettled(Array.from(this.#followers.values(), (follower) => follower.catchUp()));
  }

  /** Brings indexes up to the store and makes them ready, before a query is timed: to build one may take longer than a query may. @throws what an index throws. */
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
