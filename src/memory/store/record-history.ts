import { ValidationError } from '../../core/errors/errors.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { VersionName } from './operation.ts';

/**
 * A moment of a store: after the change with a number, or after the last change until a time, in milliseconds since
 * 1970.
 */
export type StoreMoment = { readonly sequence: number } | { readonly known: number };

/** A record as the changes from `from` to before `until` had it. */
export interface PastVersion {
  readonly record: MemoryRecord;
  readonly from: number;
  readonly until: number;
  /** Orders the records of a moment as they were added. */
  readonly place: number;
}

/** The history of a store as a snapshot has it. */
export interface SavedHistory {
  /** The first change after which the records are known. */
  readonly begin: number;
  /** [changes after `begin`] milliseconds since 1970, ascending; -Infinity for a change without a time. */
  readonly times: Float64Array;
  /** [records, 2] the change that made each record as it is, and its place. */
  readonly present: Float64Array;
  readonly past: readonly PastVersion[];
}

/** The change that made a record as it is, and its place. */
type Span = Pick<PastVersion, 'from' | 'place'>;

function isSameVector(a: Float32Array, b: Float32Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
}

/** A record without the ids of others that it names as its parent or as what replaced it; null if it names none. */
export function withoutMentions(record: MemoryRecord, ids: ReadonlySet<string>): MemoryRecord | null {
  const { supersededBy, ...others } = record.metadata;
  const isChild = record.parentId !== null && ids.has(record.parentId);
  const isReplaced = typeof supersededBy === 'string' && ids.has(supersededBy);
  if (!isChild && !isReplaced) return null;
  const parentId = isChild ? null : record.parentId;
  return { ...record, parentId, metadata: isReplaced ? others : record.metadata };
}

const nameVersion = (id: string, from: number) => `${from} ${id}`;

/**
 * The versions of records that were replaced, removed, or had fewer outcomes, with the changes between which each was
 * the present one. A version shares with the next one what did not change.
 */
export class RecordHistory {
  readonly #begin: number;
  readonly #times: number[];
  readonly #present = new Map<string, Span>();
  #past: PastVersion[];
  #places = 0;

  /** @param records the present ones. */
  constructor({ begin, times, present, past }: SavedHistory, records: readonly Pick<MemoryRecord, 'id'>[]) {
    this.#begin = begin;
    this.#times = [...times];
    this.#past = [...past];
    for (const [i, { id }] of records.entries())
      this.#present.set(id, { from: present[2 * i] as number, place: present[2 * i + 1] as number });
    for (const { place } of [...this.#present.values(), ...past]) this.#places = Math.max(this.#places, place + 1);
  }

  /** A history that begins with records after a change. */
  static begin(sequence: number, records: readonly MemoryRecord[]): RecordHistory {
    const present = Float64Array.from(records.flatMap((_, i) => [sequence, i]));
    return new RecordHistory({ begin: sequence, times: new Float64Array(0), present, past: [] }, records);
  }

  /** Every version but the present ones. A view. */
  get past(): readonly PastVersion[] {
    return this.#past;
  }

  /** Notes the time of the next change; a clock that goes back is held. */
  pushTime(time = Number.NEGATIVE_INFINITY): void {
    this.#times.push(Math.max(time, this.#times.at(-1) ?? Number.NEGATIVE_INFINITY));
  }

  /** Notes that a change adds a record, or replaces an earlier one. @returns the record, with its vector shared. */
  put(before: MemoryRecord | undefined, after: MemoryRecord, sequence: number): MemoryRecord {
    const place = before === undefined ? this.#places++ : this.#end(before, sequence);
    this.#present.set(after.id, { from: sequence, place });
    const isShared = before !== undefined && isSameVector(before.embedding, after.embedding);
    return isShared ? { ...after, embedding: before.embedding } : after;
  }

  /** Notes that a change removes a record. */
  remove(before: MemoryRecord, sequence: number): void {
    this.#end(before, sequence);
    this.#present.delete(before.id);
  }

  /** @returns the place of the record. */
  #end(record: MemoryRecord, until: number): number {
    const span = this.#present.get(record.id) as Span;
    this.#past.push({ record, ...span, until });
    return span.place;
  }

  /** Removes every version of records, other versions, and the ids of the records from what is left. O(versions). */
  forget(ids: ReadonlySet<string>, versions: readonly VersionName[]): void {
    const named = new Set(versions.map(([id, from]) => nameVersion(id, from)));
    for (const id of ids) this.#present.delete(id);
    this.#past = this.#past.flatMap((version) => {
      const { record, from } = version;
      if (ids.has(record.id) || named.has(nameVersion(record.id, from))) return [];
      const left = withoutMentions(record, ids);
      return left === null ? version : { ...version, record: Object.freeze(left) };
    });
  }

  /**
   * The number of the last change of a moment.
   *
   * @param last the number of the last change of all.
   * @throws ValidationError for a moment that the history does not have.
   */
  find(moment: StoreMoment, last: number): number {
    const isNumbered = 'sequence' in moment;
    const sequence = isNumbered ? moment.sequence : this.#begin + this.#countKnown(moment.known);
    const time = this.#times[sequence - this.#begin - 1] ?? Number.NEGATIVE_INFINITY;
    const isTimed = isNumbered || sequence === 0 || Number.isFinite(time);
    if (isTimed && Number.isInteger(sequence) && this.#begin <= sequence && sequence <= last) return sequence;
    const what = isNumbered ? `change ${sequence}` : `time ${moment.known}`;
    throw new ValidationError(
      `moment is not in the history of the memory: ${what}; name a change from ${this.#begin} to ${last}, or a time from the first change that has one`,
      { ...moment },
    );
  }

  /** The number of changes with a time up to a moment, and of those without one before them. */
  #countKnown(known: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] as number) <= known) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The records after a change, in the order in which they were added. O(records + versions). */
  listAt(sequence: number, present: Iterable<MemoryRecord>): MemoryRecord[] {
    const found: { readonly record: MemoryRecord; readonly place: number }[] = [];
    for (const version of this.#past) if (version.from <= sequence && sequence < version.until) found.push(version);
    for (const record of present) {
      const { from, place } = this.#present.get(record.id) as Span;
      if (from <= sequence) found.push({ record, place });
    }
    return found.sort((a, b) => a.place - b.place).map(({ record }) => record);
  }

  /** Copies the history for a snapshot. @param records the present ones. */
  capture(records: readonly MemoryRecord[]): SavedHistory {
    const present = new Float64Array(2 * records.length);
    for (const [i, { id }] of records.entries()) {
      const { from, place } = this.#present.get(id) as Span;
      present.set([from, place], 2 * i);
    }
    return { begin: this.#begin, times: Float64Array.from(this.#times), present, past: [...this.#past] };
  }
}
