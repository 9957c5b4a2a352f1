import { DuplicateRecordError, RecordNotFoundError, ValidationError } from '../../core/errors/errors.ts';
import { countBytes } from '../../core/journal/frame.ts';
import type { Journal } from '../../core/journal/journal.ts';
import { type JournalPosition, UNKNOWN_HASH } from '../../core/journal/position.ts';
import { isTime } from '../../core/validation/validation.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import {
  assertEmbedding,
  type MemoryRecord,
  type MemoryRecordInput,
  type OutcomeStatistics,
} from '../../model/turns/turn.ts';
import { assertOutcome } from '../outcomes/outcome-statistics.ts';
import { encodeOperation, type Operation, type VersionName } from './operation.ts';
import { copyRecord, parseRecords } from './own-records.ts';
import type { PastVersion, StoreMoment } from './record-history.ts';
import { RecordTable } from './record-table.ts';
import { measureSnapshot, removeSnapshots, writeSnapshot } from './snapshot.ts';

/** How messages name a store. */
export const STORE_NAME = 'memory store';

/** True if a record will be there once the operations that wait are done. */
interface Expectation {
  exists: boolean;
  operations: number;
}

/**
 * @param ids the records that were added, replaced or removed.
 * @param observed the record whose statistics have another outcome; null for another operation.
 */
export type NotifyChange = (ids: readonly string[], observed: string | null) => void;

/** What a folder held when its store was opened. */
export interface RestoredStore {
  readonly table: RecordTable;
  readonly snapshotSequence: number;
  /** By id, the last operation on it since the snapshot. */
  readonly changes: Map<string, number>;
  /** See {@link MemoryStore.grownBytes}. */
  readonly grownBytes: number;
  /** See {@link MemoryStore.snapshotBytes}. */
  readonly snapshotBytes: number;
  /** True for the store of an earlier moment, which refuses changes. */
  readonly isPast?: boolean;
}

/** A store without records or changes. */
export function restoreNothing(): RestoredStore {
  return { table: new RecordTable(), snapshotSequence: 0, changes: new Map(), grownBytes: 0, snapshotBytes: 0 };
}

/**
 * Records in memory, by id, whose changes are kept in a journal. A change is acknowledged, and seen, once its entry is
 * written: an acknowledged change is there after the process is killed and, with `fsync: always`, after a power
 * failure. A change is one entry, so it is there as a whole or not at all.
 *
 * Records do not change but for their statistics. What the store hands out are copies.
 */
export class MemoryStore {
  /** Null for a store in memory alone. */
  readonly folder: string | null;
  readonly #journal: Journal | null;
  readonly #table: RecordTable;
  readonly #expected = new Map<string, Expectation>();
  readonly #runAlone = createSerialRunner();
  readonly #fixedDimension: number | null;
  readonly #changes: Map<string, number>;
  readonly #watchers = new Set<NotifyChange>();
  #dimension: number | null;
  #snapshotSequence: number;
  #grownBytes: number;
  #snapshotBytes: number;
  readonly #isPast: boolean;
  readonly #clock: () => number;
  #isClosed = false;

  /** @internal `openStore` makes stores. */
  constructor(
    journal: Journal | null,
    fixedDimension: number | null,
    restored: RestoredStore = restoreNothing(),
    clock: () => number = Date.now,
  ) {
    const { table, snapshotSequence, changes, grownBytes, snapshotBytes, isPast = false } = restored;
    this.#isPast = isPast;
    this.#clock = clock;
    this.#changes = changes;
    this.#grownBytes = grownBytes;
    this.#snapshotBytes = snapshotBytes;
    this.folder = journal?.folder ?? null;
    this.#journal = journal;
    this.#table = table;
    this.#fixedDimension = fixedDimension;
    this.#dimension = table.dimension ?? fixedDimension;
    this.#snapshotSequence = snapshotSequence;
  }

  /** D of the records, or what was asked for; null for a store without records otherwise. */
  get dimension(): number | null {
    return this.#dimension;
  }

  get size(): number {
    return this.#table.size;
  }

  /** The number of operations so far, and of the last one. */
  get sequence(): number {
    return this.#table.position.sequence;
  }

  /** The last operation, and the history that ends with it. */
  get position(): JournalPosition {
    return this.#table.position;
  }

  /** True if every change is refused. */
  get isReadOnly(): boolean {
    return this.#journal?.isReadOnly ?? this.#isPast;
  }

  /** Sentences about acknowledged changes that the opening found missing at the end. */
  get warnings(): readonly string[] {
    return this.#journal?.warnings ?? [];
  }

  /** Adds to {@link warnings} if the store has lost an operation that was acknowledged. @throws StorageError. */
  noteAcknowledged(position: JournalPosition): void {
    this.#journal?.noteAcknowledged(position);
  }

  /** Describes in a sentence that an acknowledged operation was lost; null if it was not. @throws StorageError. */
  describeLoss(acknowledged: JournalPosition): string | null {
    return this.#journal?.describeLoss(acknowledged) ?? null;
  }

  /**
   * True if an operation with this number and history was done; null if that is no longer known.
   *
   * @throws StorageError.
   */
  holds(position: JournalPosition): boolean | null {
    return this.#journal?.holds(position) ?? null;
  }

  /** Bytes of the operations since the last snapshot, which an opening reads. */
  get grownBytes(): number {
    return this.#grownBytes;
  }

  /** Bytes of the last snapshot; 0 without one. */
  get snapshotBytes(): number {
    return this.#snapshotBytes;
  }

  /** The attributes that some record has, by the number of these records. A view. */
  get attributes(): ReadonlyMap<string, number> {
    return this.#table.attributes;
  }

  /** The latest time of a record, in milliseconds since 1970; null without records. */
  get newestTime(): number | null {
    return this.#table.newestTime;
  }

  has(id: string): boolean {
    return this.#table.get(id) !== undefined;
  }

  /** @internal A record that the caller must not change; null if it is missing. */
  view(id: string): MemoryRecord | null {
    return this.#table.get(id) ?? null;
  }

  /** A record; null if it is missing. */
  get(id: string): MemoryRecord | null {
    const record = this.#table.get(id);
    return record === undefined ? null : copyRecord(record);
  }

  /**
   * The ids of the records that were added, replaced or removed after an operation; null if the store has none of this
   * history, or if it was before the last snapshot, when it is no longer known. Observed outcomes are no such change.
   */
  listChangesSince(position: JournalPosition): string[] | null {
    const { sequence } = position;
    if (sequence < this.#snapshotSequence || this.holds(position) !== true) return null;
    return [...this.#changes].filter(([, changed]) => changed > sequence).map(([id]) => id);
  }

  /**
   * True if a record was added, replaced or removed after an operation, or may have been: before the last snapshot that
   * is no longer known.
   */
  hasChangedSince(id: string, sequence: number): boolean {
    return sequence < this.#snapshotSequence || (this.#changes.get(id) ?? 0) > sequence;
  }

  /**
   * Calls a function with the ids of every later change, at the moment at which readers see the change. An observed
   * outcome changes no record: the list is empty then, and the id is passed beside it.
   *
   * @returns ends the calls.
   */
  watch(notify: NotifyChange): () => void {
    this.#watchers.add(notify);
    return () => this.#watchers.delete(notify);
  }

  /**
   * The store as it was at a moment, in memory alone; it refuses changes. O(records + versions).
   *
   * @throws ValidationError for a store without a history, and for a moment that its history does not have.
   */
  at(moment: StoreMoment): MemoryStore {
    return new MemoryStore(null, this.#dimension, { ...restoreNothing(), table: this.#table.at(moment), isPast: true });
  }

  /** The versions of the history that are not the present ones; none without a history. A view. */
  get pastVersions(): readonly PastVersion[] {
    return this.#table.history?.past ?? [];
  }

  /** The records at this moment, in the order in which they were added. */
  *records(): IterableIterator<MemoryRecord> {
    for (const record of this.#table.list()) yield copyRecord(record);
  }

  /**
   * Adds records, all or none.
   *
   * @param options `replace`: a record with a known id replaces the earlier one, with its statistics; otherwise it is
   *   an error. `admit` may refuse the records, with their defaults, by an error.
   * @throws DuplicateRecordError, DimensionMismatchError, NotFiniteError, ConfigurationError for a record with wrong
   *   fields, StorageError.
   */
  async put(
    records: readonly MemoryRecordInput[],
    options: { readonly replace?: boolean; readonly admit?: (records: readonly MemoryRecord[]) => void } = {},
  ): Promise<void> {
    const checked = parseRecords(records);
    const ids = new Set<string>();
    for (const { id } of checked) {
      if (ids.has(id) || (options.replace !== true && this.#willExist(id)))
        throw new DuplicateRecordError(STORE_NAME, id);
      ids.add(id);
    }
    const dimension = this.#dimension ?? checked[0]?.embedding.length ?? null;
    for (const { id, embedding } of checked) assertEmbedding(embedding, dimension as number, `record ${id}`);
    options.admit?.(checked);
    if (checked.length === 0) return;
    this.#dimension = dimension;
    await this.#write({ kind: 'put', records: checked }, ids, true, () => this.#table.put(checked));
  }

  /** Removes records; skips ids that are missing. @returns how many were there. @throws StorageError. */
  async remove(ids: readonly string[]): Promise<number> {
    const found = new Set(ids.filter((id) => this.#willExist(id)));
    if (found.size === 0) return 0;
    const operation = { kind: 'remove', ids: [...found] } as const;
    return this.#write(operation, found, false, () => this.#table.remove(operation.ids));
  }

  /**
   * Removes records as {@link remove}, and their ids from the records that name them as their parent or as what replaced
   * them. A history loses every version of the records. The files have their content until the next snapshot.
   *
   * @param versions of other records that the history loses.
   * @returns how many records were removed.
   * @throws StorageError.
   */
  async forget(ids: readonly string[], versions: readonly VersionName[] = []): Promise<number> {
    const named = { kind: 'forget', ids: [...new Set(ids)] } as const;
    const operation = versions.length === 0 ? named : { ...named, versions };
    const isPresent = ids.some((id) => this.#willExist(id)) || this.#table.listChanged(operation).length > 0;
    const isNeeded = isPresent || (this.#table.history !== null && ids.length + versions.length > 0);
    if (!isNeeded) return 0;
    return this.#write(operation, operation.ids, false, () => this.#table.forget(operation.ids, versions));
  }

  /**
   * Adds an outcome to the statistics of a record.
   *
   * @returns the statistics with it.
   * @throws RecordNotFoundError, NotFiniteError, ValidationError for an outcome beyond 2^53 - 1, StorageError.
   */
  async observe(id: string, outcome: number): Promise<OutcomeStatistics> {
    assertOutcome(outcome, `record ${id}`, Number.MAX_SAFE_INTEGER);
    if (!this.#willExist(id)) throw new RecordNotFoundError(STORE_NAME, id);
    const waiting = this.#expected.get(id)?.operations ?? 0;
    if ((this.#table.get(id)?.stats.count ?? 0) + waiting >= Number.MAX_SAFE_INTEGER)
      throw new ValidationError(`record ${id} has 2^53 - 1 outcomes, the most that can be; replace the record`, { id });
    return this.#write({ kind: 'observe', id, outcome }, [id], true, () => this.#table.observe(id, outcome));
  }

  #willExist(id: string): boolean {
    return this.#expected.get(id)?.exists ?? this.#table.get(id) !== undefined;
  }

  /** Writes an operation; other operations see at once that it will be done, readers when it is. */
  async #write<T>(change: Operation, ids: Iterable<string>, exists: boolean, apply: () => T): Promise<T> {
    this.assertWritable();
    const operation = this.#table.history === null ? change : { ...change, at: this.#readClock() };
    const commit = (sequence: number, hash: string) => {
      this.#table.enter({ sequence, hash }, operation);
      const changed = this.#table.listChanged(operation);
      for (const id of changed) this.#changes.set(id, sequence);
      const result = apply();
      const observed = operation.kind === 'observe' ? operation.id : null;
      for (const notify of this.#watchers) notify(changed, observed);
      return result;
    };
    if (this.#journal === null) return commit(this.sequence + 1, UNKNOWN_HASH);
    const entry = encodeOperation(operation);
    const written = this.#journal.append(entry, (sequence, hash) => {
      this.#grownBytes += countBytes(entry);
      return commit(sequence, hash);
    });
    this.#expect(ids, exists);
    try {
      return await written;
    } finally {
      this.#settle(ids);
    }
  }

  #expect(ids: Iterable<string>, exists: boolean): void {
    for (const id of ids) {
      const operations = (this.#expected.get(id)?.operations ?? 0) + 1;
      this.#expected.set(id, { exists, operations });
    }
  }

  /** The operations that wait behind a failed one fail with it, so what is left is what the table holds. */
  #settle(ids: Iterable<string>): void {
    for (const id of ids) {
      const expectation = this.#expected.get(id) as Expectation;
      expectation.operations--;
      if (expectation.operations === 0) this.#expected.delete(id);
    }
    if (this.#expected.size === 0 && this.#table.dimension === null) this.#dimension = this.#fixedDimension;
  }

  /**
   * Writes all records as a snapshot, then removes the entries of the journal and the snapshots that it replaces.
   * Changes go on meanwhile; they wait for at most one part of the snapshot. Does nothing for a store in memory, nor if
   * nothing has changed.
   *
   * @throws StorageError; the store is as before then.
   */
  snapshot(): Promise<void> {
    this.#assertOpen();
    return this.#runAlone(() => this.#writeSnapshot());
  }

  async #writeSnapshot(): Promise<void> {
    const journal = this.#journal;
    if (journal === null || this.sequence === this.#snapshotSequence) return;
    await journal.rotate(); // entries up to here are in earlier segments
    const { position } = this;
    const { sequence } = position;
    const coveredBytes = this.#grownBytes;
    const records = this.#table.list();
    const history = this.#table.history?.capture(records) ?? null;
    await writeSnapshot(journal.folder, { position, records, history });
    this.#snapshotSequence = sequence;
    for (const [id, changed] of this.#changes) if (changed <= sequence) this.#changes.delete(id);
    journal.dropThrough(sequence);
    removeSnapshots(journal.folder, sequence);
    this.#grownBytes -= coveredBytes;
    this.#snapshotBytes = measureSnapshot(journal.folder);
  }

  /** Ends writing, after the changes that wait, and releases the folder. @throws StorageError. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#runAlone(async () => this.#journal?.close());
  }

  #readClock(): number {
    const time = this.#clock();
    if (isTime(time)) return time;
    throw new ValidationError(`clock of the memory gives no time: ${time}; return milliseconds since 1970`, { time });
  }

  /** @throws ValidationError for a store that refuses changes, or that is closed. */
  assertWritable(): void {
    this.#assertOpen();
    if (!this.isReadOnly) return;
    const { folder, sequence } = this;
    const [what, remedy] = this.#isPast
      ? [`as of change ${sequence}`, 'change the present memory']
      : [folder, 'open it without readOnly'];
    throw new ValidationError(`${STORE_NAME} is read-only: ${what}; ${remedy}`, { folder });
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new ValidationError(`${STORE_NAME} is closed: ${this.folder ?? 'in memory'}; open it again`, {
      folder: this.folder,
    });
  }
}
