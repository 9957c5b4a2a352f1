import { RecordNotFoundError, ValidationError } from '../../core/errors/errors.ts';
import { JOURNAL_START, type JournalPosition, UNKNOWN_HASH } from '../../core/journal/position.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { MemoryRecord, OutcomeStatistics } from '../../model/turns/turn.ts';
import { updateOutcomeStatistics } from '../outcomes/outcome-statistics.ts';
import type { Operation, VersionName } from './operation.ts';
import { RecordHistory, type StoreMoment, withoutMentions } from './record-history.ts';
import { SavedRecord } from './saved-record.ts';

/** What operations so far have made of a store. */
export class RecordTable {
  readonly #records = new Map<string, MemoryRecord | SavedRecord>();
  /** The number of records by attribute; null after records were restored, until it is asked for. */
  #attributes: Map<string, number> | null = new Map();
  /**
   * The latest time of a record, null without records; undefined after its record was removed and after records were
   * restored, until it is asked for.
   */
  #newest: number | null | undefined = null;
  /** The position of the last operation that was applied, or is being applied. */
  position = JOURNAL_START;
  /** Null where versions that are replaced or removed are not kept. */
  history: RecordHistory | null = null;

  /** Keeps every version from now on. */
  beginHistory(): void {
    this.history ??= RecordHistory.begin(this.position.sequence, this.list());
  }

  /** Notes the operation that is applied next. */
  enter(position: JournalPosition, { at }: Operation): void {
    this.position = position;
    this.history?.pushTime(at);
  }

  /** The table as it was at a moment. @throws ValidationError for a moment that no history has. */
  at(moment: StoreMoment): RecordTable {
    if (this.history === null)
      throw new ValidationError('memory has no history; open it with history: true, which keeps it from then on');
    const { sequence } = this.position;
    const found = this.history.find(moment, sequence);
    const table = new RecordTable();
    table.put(this.history.listAt(found, this.#walk()));
    table.position = found === sequence ? this.position : { sequence: found, hash: UNKNOWN_HASH };
    return table;
  }

  get size(): number {
    return this.#records.size;
  }

  get(id: string): MemoryRecord | undefined {
    const record = this.#records.get(id);
    return record instanceof SavedRecord ? this.#decode(record) : record;
  }

  /** Decodes a record in its place. */
  #decode(saved: SavedRecord): MemoryRecord {
    const record = Object.freeze(freezeFields(saved.read()));
    this.#records.set(saved.id, record);
    return record;
  }

  *#walk(): Generator<MemoryRecord> {
    for (const record of this.#records.values()) yield record instanceof SavedRecord ? this.#decode(record) : record;
  }

  /** Takes over the records of a snapshot, into an empty table. Each is decoded when it is first read. */
  restore(records: readonly (MemoryRecord | SavedRecord)[]): void {
    for (const record of records)
      this.#records.set(record.id, record instanceof SavedRecord ? record : Object.freeze(freezeFields(record)));
    this.#attributes = null;
    this.#newest = undefined;
  }

  /** D of the records, and of the versions of the history; null without any. */
  get dimension(): number | null {
    const [first = this.history?.past[0]?.record] = this.#walk();
    return first?.embedding.length ?? null;
  }

  /** The latest time of a record; null without records. O(1), but O(records) once after that record was removed. */
  get newestTime(): number | null {
    if (this.#newest !== undefined) return this.#newest;
    let newest: number | null = null;
    for (const { createdAt } of this.#walk()) newest = Math.max(newest ?? createdAt, createdAt);
    this.#newest = newest;
    return newest;
  }

  list(): MemoryRecord[] {
    return [...this.#walk()];
  }

  /** The attributes that some record has, by the number of these records. O(1), but O(records) once after a restore. */
  get attributes(): ReadonlyMap<string, number> {
    if (this.#attributes !== null) return this.#attributes;
    const attributes = new Map<string, number>();
    for (const record of this.#walk()) countNames(attributes, record, 1);
    this.#attributes = attributes;
    return attributes;
  }

  put(records: readonly MemoryRecord[]): void {
    const { sequence } = this.position;
    for (const record of records) this.#set(this.history?.put(this.get(record.id), record, sequence) ?? record);
  }

  #set(record: MemoryRecord): void {
    this.#note(this.get(record.id), record);
    this.#records.set(record.id, Object.freeze(freezeFields(record)));
  }

  remove(ids: readonly string[]): number {
    for (const id of ids) {
      const record = this.get(id);
      if (record !== undefined) this.history?.remove(record, this.position.sequence);
    }
    return this.#delete(ids);
  }

  #delete(ids: readonly string[]): number {
    return ids.reduce((count, id) => {
      this.#note(this.get(id));
      return count + Number(this.#records.delete(id));
    }, 0);
  }

  /** Notes that a record goes, or that one comes, or takes its place. */
  #note(before: MemoryRecord | undefined, after?: MemoryRecord): void {
    if (this.#attributes !== null) {
      countNames(this.#attributes, before, -1);
      countNames(this.#attributes, after, 1);
    }
    const newest = this.#newest;
    if (newest === undefined) return;
    if (after !== undefined && after.createdAt >= (newest ?? -Infinity)) this.#newest = after.createdAt;
    else if (before?.createdAt === newest) this.#newest = undefined;
  }

  /** @throws RecordNotFoundError. */
  observe(id: string, outcome: number): OutcomeStatistics {
    const record = this.get(id);
    if (record === undefined) throw new RecordNotFoundError('memory store', id);
    const stats = Object.freeze(updateOutcomeStatistics(record.stats, outcome));
    const after = { ...record, stats };
    this.#records.set(id, Object.freeze(this.history?.put(record, after, this.position.sequence) ?? after));
    return stats;
  }

  /**
   * Removes records with every version, other versions of the history, and the ids of the records from what names them.
   * O(records + versions).
   *
   * @returns how many records were removed.
   */
  forget(ids: readonly string[], versions: readonly VersionName[] = []): number {
    const removed = this.#delete(ids);
    const gone = new Set(ids);
    this.history?.forget(gone, versions);
    for (const record of this.#detach(gone)) this.#set(record);
    return removed;
  }

  /** The records that name one of some others, without its id. */
  #detach(ids: ReadonlySet<string>): MemoryRecord[] {
    return this.list().flatMap((record) => (ids.has(record.id) ? [] : (withoutMentions(record, ids) ?? [])));
  }

  /** The ids of the records that an operation, which is not done yet, adds, replaces or removes. */
  listChanged(operation: Operation): readonly string[] {
    if (operation.kind === 'put') return operation.records.map(({ id }) => id);
    if (operation.kind === 'observe') return [];
    if (operation.kind === 'remove') return operation.ids;
    const ids = new Set(operation.ids);
    return [...operation.ids.filter((id) => this.#records.has(id)), ...this.#detach(ids).map(({ id }) => id)];
  }

  apply(operation: Operation): void {
    if (operation.kind === 'put') this.put(operation.records);
    else if (operation.kind === 'remove') this.remove(operation.ids);
    else if (operation.kind === 'forget') this.forget(operation.ids, operation.versions);
    else this.observe(operation.id, operation.outcome);
  }
}

/** Counts the attributes of a record that comes, or that goes. */
function countNames(counts: Map<string, number>, record: MemoryRecord | undefined, step: 1 | -1): void {
  for (const name of Object.keys(record?.metadata ?? {})) {
    const count = (counts.get(name) ?? 0) + step;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }
}

function freezeFields(record: MemoryRecord): MemoryRecord {
  for (const value of [record.metadata, record.stats, record.trajectory]) freezeDeeply(value);
  return record;
}
