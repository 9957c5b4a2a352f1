import type { MemoryRecord } from '../../model/turns/turn.ts';
import { type ConservationMetrics, measureConservation } from '../../ops/conservation/conservation-metrics.ts';
import { ConservationStream } from '../../ops/conservation/conservation-stream.ts';
import { computeSalience, type SalientRecord } from './salience.ts';

/** The origin of saliences is moved before one is larger, far below the largest float64. */
const LARGEST_SALIENCE = 2 ** 512;
/** The sums of a stream are used while the total salience is above this share of its largest value. */
const LEAST_SHARE = 2 ** -40;

/** The records of a store. */
export interface StoredRecords {
  records(): Iterable<MemoryRecord>;
  /** null for an unknown id. */
  get(id: string): MemoryRecord | null;
}

/** Records that a change adds or replaces, and the ids of those that it removes. */
export interface RecordChanges {
  readonly put: readonly MemoryRecord[];
  readonly removed: readonly string[];
}

/** The latest time of a record with salience; null without one. */
export function findOrigin(records: Iterable<SalientRecord>): number | null {
  let origin: number | null = null;
  for (const record of records)
    if ((origin === null || record.createdAt > origin) && computeSalience(record, null, 0) > 0)
      origin = record.createdAt;
  return origin;
}

/**
 * The metrics of records, weighted by their salience, in O(n D).
 *
 * @param list is called several times.
 * @param dimension D
 * @param halfLifeHours null: salience does not fade.
 * @returns null for records without salience.
 */
export function measureRecords(
  list: () => Iterable<MemoryRecord>,
  dimension: number,
  halfLifeHours: number | null,
): ConservationMetrics | null {
  const origin = findOrigin(list());
  if (origin === null) for (const _ of list()) return null;
  const weigh = function* () {
    for (const record of list())
      yield { embedding: record.embedding, salience: computeSalience(record, halfLifeHours, origin ?? 0) };
  };
  return measureConservation(weigh(), dimension);
}

/** The records after a change, in any order. */
function* listAfter(before: Iterable<MemoryRecord>, { put, removed }: RecordChanges): IterableIterator<MemoryRecord> {
  const changed = new Set([...removed, ...put.map(({ id }) => id)]);
  for (const record of before) if (!changed.has(record.id)) yield record;
  yield* put;
}

/**
 * The conservation metrics of the records of a store, weighted by their salience, which follow the store in O(D) for
 * each record that changes. All records are read when it is made, and again in two cases: a record comes that is over
 * 500 half-lives later than all others, or what goes had 10^12 times the salience of what stays.
 */
export class SalienceStream {
  readonly #store: StoredRecords;
  readonly #dimension: number;
  readonly #halfLifeHours: number | null;
  #stream: ConservationStream;
  #origin = 0;
  /** The largest total salience of the stream so far. */
  #largest = 0;

  /** @param dimension D */
  constructor(store: StoredRecords, dimension: number, halfLifeHours: number | null) {
    this.#store = store;
    this.#dimension = dimension;
    this.#halfLifeHours = halfLifeHours;
    this.#stream = new ConservationStream(dimension);
    this.#rebuild();
  }

  /** null for records without salience. */
  get metrics(): ConservationMetrics | null {
    const { size, salience } = this.#stream;
    return size > 0 && salience === 0 ? null : this.#stream.computeStreamMetrics();
  }

  /** Takes in a change that the store has made. */
  follow(ids: readonly string[]): void {
    const put = ids.flatMap((id) => this.#store.get(id) ?? []);
    if (put.some((record) => this.#weigh(record) > LARGEST_SALIENCE)) this.#rebuild();
    else this.#replace(ids, put);
    if (!this.#isSound) this.#rebuild();
  }

  /** The metrics after a change that the store has not made; the stream stays as it is. */
  measureAfter(changes: RecordChanges): ConservationMetrics | null {
    const { put, removed } = changes;
    const ids = [...removed, ...put.map(({ id }) => id)];
    const before = [...new Set(ids)].flatMap((id) => this.#store.get(id) ?? []);
    try {
      if (put.every((record) => this.#weigh(record) <= LARGEST_SALIENCE)) {
        this.#replace(ids, put);
        if (this.#isSound) return this.metrics;
      }
      const list = () => listAfter(this.#store.records(), changes);
      return measureRecords(list, this.#dimension, this.#halfLifeHours);
    } finally {
      this.#replace(ids, before);
      if (!this.#isSound) this.#rebuild();
    }
  }

  #weigh(record: MemoryRecord): number {
    return computeSalience(record, this.#halfLifeHours, this.#origin);
  }

  get #isSound(): boolean {
    return this.#stream.salience >= this.#largest * LEAST_SHARE;
  }

  #rebuild(): void {
    this.#stream = new ConservationStream(this.#dimension);
    this.#origin = findOrigin(this.#store.records()) ?? 0;
    this.#largest = 0;
    this.#replace([], this.#store.records());
  }

  #replace(ids: readonly string[], records: Iterable<MemoryRecord>): void {
    for (const id of ids) if (this.#stream.has(id)) this.#stream.remove(id);
    for (const record of records) {
      this.#stream.add(record.id, record.embedding, this.#weigh(record));
      this.#largest = Math.max(this.#largest, this.#stream.salience);
    }
  }
}
