import { LRUCache } from 'lru-cache';

/** How often a cache knew a slice. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
}

/** The slices that were asked for last, by what they depend on. The least recently used one makes place for a new one. */
export class SliceCache {
  readonly #kept: LRUCache<string, readonly string[]> | null;
  #hits = 0;
  #misses = 0;

  /** @param maxEntries 0 keeps nothing. */
  constructor(maxEntries: number) {
    this.#kept = maxEntries === 0 ? null : new LRUCache({ max: maxEntries });
  }

  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** The ids of a slice, walked if they are not kept. An error is not kept. */
  getOrWalk(key: string, walk: () => readonly string[]): readonly string[] {
    const kept = this.#kept?.get(key);
    if (kept !== undefined) {
      this.#hits++;
      return kept;
    }
    const ids = walk();
    this.#misses++;
    this.#kept?.set(key, ids);
    return ids;
  }
}
