import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';

/** How often an entry was retrieved. */
export interface QueryPattern {
  readonly id: string;
  readonly retrievals: number;
  /** Milliseconds since 1970: the latest time that the caller gave. */
  readonly lastRetrieved: number;
}

const snapshotSchema = z.strictObject({
  capacity: z.int().min(1),
  queries: z.int().min(0),
  /** The latest first. */
  patterns: z.array(z.strictObject({ id: z.string(), retrievals: z.int().min(1), lastRetrieved: z.int() })),
});
/** The state of a tracker as plain JSON. */
export type QueryPatternSnapshot = z.output<typeof snapshotSchema>;

/**
 * Counts how often each entry is retrieved, which tells what is worth consolidating. A query costs O(1) per retrieved id, whatever was tracked before.
 * At most `capacity` entries are tracked: the one that was retrieved the longest ago makes place for a new one. No clock is read.
 */
export class QueryPatternTracker {
  readonly capacity: number;
  readonly #patterns: LRUCache<string, QueryPattern>;
  #queries = 0;

  /** @throws ValidationError for a capacity that is no whole number from 1. */
  constructor(capacity = 100_000) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new ValidationError(`capacity is not a positive integer: ${capacity}; pass a whole number from 1`, {
        capacity,
      });
    this.capacity = capacity;
    this.#patterns = new LRUCache({ max: capacity });
  }

  /** Entries that are tracked. */
  get size(): number {
    return this.#patterns.size;
  }

  /** Queries that were recorded. */
  get queries(): number {
    return this.#queries;
  }

  /**
   * Records what a query has retrieved; an id counts once a query.
   *
   * @param time milliseconds since 1970.
   * @throws ValidationError for a time that is no whole number.
   */
  record(ids: Iterable<string>, time: number): void {
    if (!Number.isSafeInteger(time))
      throw new ValidationError(`time of a query is no whole number: ${time}; pass milliseconds since 1970`, { time });
    this.#queries++;
    for (const id of new Set(ids)) {
      const known = this.#patterns.get(id);
      this.#patterns.set(id, {
        id,
        retrievals: (known?.retrievals ?? 0) + 1,
        lastRetrieved: Math.max(known?.lastRetrieved ?? time, time),
      });
    }
  }

  /** The retrievals of an entry; 0 if it is not tracked. */
  getRetrievals(id: string): number {
    return this.#patterns.peek(id)?.retrievals ?? 0;
  }

  /** The entries with at least `minRetrievals` retrievals, the most often retrieved first, equal ones by id descending. O(n log n). */
  getConsolidationCandidates(minRetrievals: number): QueryPattern[] {
    const found = [...this.#patterns.values()].filter(({ retrievals }) => retrievals >= minRetrievals);
    return found
      .map((pattern) => ({ id: pattern.id, score: pattern.retrievals, pattern }))
      .sort(compareScored)
      .map(({ pattern }) => pattern);
  }

  /** The whole state, which {@link QueryPatternTracker.restore} reads. */
  snapshot(): QueryPatternSnapshot {
    return { capacity: this.capacity, queries: this.#queries, patterns: [...this.#patterns.values()] };
  }

  /** A tracker that goes on as the one of the snapshot would have. @throws ConfigurationError for anything else. */
  static restore(snapshot: unknown): QueryPatternTracker {
    const { capacity, queries, patterns } = parse(snapshotSchema, snapshot, 'the snapshot of a tracker');
    const tracker = new QueryPatternTracker(capacity);
    tracker.#queries = queries;
    for (const pattern of patterns.toReversed()) tracker.#patterns.set(pattern.id, pattern);
    return tracker;
  }
}
