import { LRUCache } from 'lru-cache';
import { computeHash } from '../../core/hash/hash.ts';

/** How many answers are kept, and for how long. */
export interface QueryCacheOptions {
  readonly maxEntries: number;
  readonly ttlSeconds: number;
  readonly enabled: boolean;
}

/** A clock in milliseconds that never goes back. */
export interface Clock {
  now(): number;
}

/**
 * The latest answers by query. The key covers the state of the store, its sequence: an answer from before a write is never given after it. The least
 * recently used answer makes place for a new one.
 */
export class QueryCache<Answer extends object> {
  readonly #answers: LRUCache<string, Answer> | null;

  constructor({ maxEntries, ttlSeconds, enabled }: QueryCacheOptions, clock: Clock = performance) {
    this.#answers = enabled
      ? new LRUCache({ max: maxEntries, ttl: ttlSeconds * 1000, ttlResolution: 0, perf: clock })
      : null;
  }

  /** The number of answers that are kept. */
  get size(): number {
    return this.#answers?.size ?? 0;
  }

  /**
   * The answer to a query, computed if it is not kept. An error is not kept.
   *
   * @param query plain values and typed arrays: what the answer depends on, besides the store.
   */
  async answer(query: unknown, sequence: number, compute: () => Promise<Answer>): Promise<Answer> {
    const answers = this.#answers;
    if (answers === null) return compute();
    const key = computeHash({ query, sequence });
    const kept = answers.get(key);
    if (kept !== undefined) return kept;
    const answer = await compute();
    answers.set(key, answer);
    return answer;
  }
}
