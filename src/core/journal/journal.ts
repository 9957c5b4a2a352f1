import { rmSync } from 'node:fs';
import { StorageError, ValidationError, WalCorruptedError } from '../errors/errors.ts';
import { makeSyncedFolder } from '../files/files.ts';
import { FolderLock } from '../files/folder-lock.ts';
import { assertPayload, countBytes } from './frame.ts';
import { extendHash, isSamePosition, JOURNAL_START, type JournalPosition, type Payload } from './position.ts';
import { type Fsync, SegmentWriter } from './segment-writer.ts';
import {
  type JournalEnd,
  type JournalEntry,
  type LostEntries,
  listSegments,
  readBoot,
  readHashAt,
  readJournal,
  readJournalEnd,
  type Segment,
} from './segments.ts';

const REMEDY = 'restore the folder from a copy';

function describeMissing(name: string, sequence: number, last: number): string {
  const count = last - sequence;
  const [range, verb] = count === 1 ? [`change ${last}`, 'is'] : [`changes ${sequence + 1} to ${last}`, 'are'];
  return `${name} has lost ${range}: ${count} acknowledged at its end ${verb} missing; ${REMEDY}, or make what is missing again`;
}

/**
 * Describes the loss of acknowledged entries in a sentence; null without one.
 *
 * @param name of the journal.
 * @param last the last entry that the journal has.
 * @param acknowledged an entry that was acknowledged.
 * @param isHeld whether the journal has that entry; null if it cannot tell.
 */
function describeLoss(
  name: string,
  last: JournalPosition,
  acknowledged: JournalPosition,
  isHeld: boolean | null,
): string | null {
  if (acknowledged.sequence > last.sequence) return describeMissing(name, last.sequence, acknowledged.sequence);
  if (isHeld !== false) return null;
  return `${name} has lost acknowledged changes: its change ${acknowledged.sequence} is another one than it was; ${REMEDY}`;
}

/**
 * Describes in a sentence why acknowledged entries after the last one may be missing; null if none can be.
 *
 * @param end null: missing or damaged.
 */
function describeDoubt(name: string, { sequence }: JournalPosition, end: JournalEnd | null): string | null {
  const what = `${name} may have lost changes after ${sequence}`;
  if (end === null)
    return sequence === 0 ? null : `${what}: its file 'end' is missing or damaged; ${REMEDY} if changes are missing`;
  if (end.isSynced || (end.boot !== '' && end.boot === readBoot())) return null;
  return `${what}: the system was started again before they were on the disk; open it with fsync always to prevent this, and ${REMEDY} if changes are missing`;
}

/** When entries reach the disk, how long a segment is, and how messages name the journal. */
export interface JournalOptions {
  /** Default `always`. */
  readonly fsync?: Fsync;
  /** With `interval`: an entry is on the disk after this time at the latest. Default 100. */
  readonly intervalMs?: number;
  /** A segment that has this size is followed by another one. Default 64 MiB. */
  readonly segmentBytes?: number;
  /** What the folder is, in messages. Default `journal`. */
  readonly kind?: string;
  /** The end of the message about damage. */
  readonly remedy?: string;
  /** The folder is read as it is, also if another process writes to it, and nothing is written. Default false. */
  readonly readOnly?: boolean;
}

const DEFAULTS = {
  fsync: 'always',
  intervalMs: 100,
  segmentBytes: 2 ** 26,
  kind: 'journal',
  remedy: 'restore the folder from a copy',
  readOnly: false,
} as const;

/** Entries that are written with one call. */
const BATCH_BYTES = 2 ** 26;

/** An entry that waits to be written; without a payload, the beginning of a new segment. */
interface Job {
  readonly payload: Payload | null;
  readonly finish: (position: JournalPosition) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * An append-only log of entries, each any bytes with a number of its own: 1, 2, 3, ... without gaps. An entry is acknowledged after it is written, and with
 * `fsync: always` synced. Entries that arrive while others are synced are written together and share one sync (group commit).
 *
 * The folder belongs to one process, which its file `lock` names. Entries are in segments, files that only grow; see {@link scanFrames} for damage.
 */
export class Journal {
  readonly folder: string;
  readonly #options: Required<JournalOptions>;
  /** Null where nothing is written. */
  readonly #lock: FolderLock | null;
  readonly #segments: Segment[];
  readonly #queue: Job[] = [];
  #writing: Promise<void> | null = null;
  readonly #writer: SegmentWriter;
  #position = JOURNAL_START;
  /** A loss that is known, and one that may be, as sentences. */
  #loss: string | null = null;
  #doubt: string | null = null;
  #closing: Promise<void> | null = null;

  private constructor(folder: string, options: Required<JournalOptions>, lock: FolderLock | null) {
    this.folder = folder;
    this.#options = options;
    this.#lock = lock;
    this.#segments = listSegments(folder);
    this.#writer = new SegmentWriter(folder, options);
  }

  /**
   * Takes the folder for this process; makes it if it is missing. {@link replay} must follow.
   *
   * @throws UnavailableError naming the process that has the folder, StorageError if it cannot be read or written.
   */
  static open(folder: string, options: JournalOptions = {}): Journal {
    const all = { ...DEFAULTS, ...options };
    if (all.readOnly) return Journal.#openToRead(folder, all);
    makeSyncedFolder(folder);
    const lock = FolderLock.acquire(folder, all.kind);
    try {
      return new Journal(folder, all, lock);
    } catch (error) {
      lock.release(folder);
      throw error;
    }
  }

  static #openToRead(folder: string, options: Required<JournalOptions>): Journal {
    const journal = new Journal(folder, options, null);
    if (journal.#segments.length > 0) return journal;
    throw new ValidationError(`folder has no ${options.kind}: ${folder}; name another folder, or open it to write`, {
      folder,
    });
  }

  get isReadOnly(): boolean {
    return this.#options.readOnly;
  }

  /** The number of the last acknowledged entry; 0 if there is none. */
  get sequence(): number {
    return this.#position.sequence;
  }

  /** The last acknowledged entry. */
  get position(): JournalPosition {
    return this.#position;
  }

  /** Sentences about acknowledged entries that {@link replay} found missing at the end. */
  get warnings(): readonly string[] {
    return [this.#loss ?? this.#doubt ?? []].flat();
  }

  /** Adds to {@link warnings} if the journal has lost an entry that was acknowledged. @throws StorageError. */
  noteAcknowledged(position: JournalPosition): void {
    this.#loss ??= this.describeLoss(position);
  }

  get #name(): string {
    return `${this.#options.kind} ${this.folder}`;
  }

  /**
   * Describes in a sentence that the journal has lost an entry that was acknowledged; null if it has not.
   *
   * @throws StorageError.
   */
  describeLoss(acknowledged: JournalPosition): string | null {
    return describeLoss(this.#name, this.#position, acknowledged, this.holds(acknowledged));
  }

  /**
   * True if the journal has an entry with this number and history; null if that is no longer known.
   *
   * @throws StorageError.
   */
  holds(position: JournalPosition): boolean | null {
    if (position.sequence >= this.sequence) return isSamePosition(this.#position, position);
    const segment = this.#segments.findLast(({ first }) => first <= position.sequence + 1);
    const hash = segment === undefined ? null : readHashAt(segment, position.sequence);
    return hash === null ? null : hash === position.hash;
  }

  /**
   * Reads the entries after a position, then cuts a torn tail: bytes at the end that are no whole entry, as a writer
   * leaves that was killed. See {@link warnings}.
   *
   * @param after the last entry that the caller has from elsewhere, such as a snapshot.
   * @throws WalCorruptedError with the first lost entry for damage before the end; nothing is changed then. StorageError.
   */
  async replay(after: JournalPosition, visit: (entry: JournalEntry) => void): Promise<void> {
    const { remedy } = this.#options;
    const end = readJournalEnd(this.folder); // first: another process may write meanwhile
    const tail = await readJournal(this.#segments, after, {
      entry: visit,
      lost: ({ path, from, reason }: LostEntries) => {
        throw new WalCorruptedError(path, from, reason, remedy);
      },
    });
    this.#position = tail.next > after.sequence ? { sequence: tail.next - 1, hash: tail.hash } : after;
    if (end !== null) this.noteAcknowledged(end);
    this.#doubt = describeDoubt(this.#name, this.#position, end);
    if (this.isReadOnly) return;
    const last = this.#segments.at(-1);
    if (last === undefined) await this.#beginSegment();
    else {
      await this.#writer.take(last, tail.end, tail.torn);
      if (tail.next <= after.sequence) await this.#beginSegment();
    }
    this.#writer.trackEnd(end === null ? this.#position : null);
  }

  /**
   * Writes an entry. If a write fails, the entries that wait behind it fail with it, and none of them is in the journal. After a failure that leaves the state
   * of the file unknown, as a failed sync does, the journal refuses every entry until it is opened again; entries that were not acknowledged may then be there,
   * each as a whole.
   *
   * @param payload the bytes of the entry, or its parts: they must not change before the entry is acknowledged.
   * @param commit runs when the entry is acknowledged, in the order of the entries.
   * @returns the value of `commit`.
   * @throws StorageError, ValidationError after {@link close}, for a journal that is only read, and for an entry of
   * more than 1 GiB.
   */
  append<T>(payload: Uint8Array | Payload, commit: (sequence: number, hash: string) => T): Promise<T> {
    const parts = payload instanceof Uint8Array ? [payload] : payload;
    assertPayload(parts);
    return this.#enqueue(parts, commit);
  }

  /** Begins a new segment, so that {@link dropThrough} can remove the entries so far. @throws StorageError. */
  rotate(): Promise<void> {
    return this.#enqueue(null, () => {});
  }

  #assertWritable(): void {
    const { folder } = this;
    const { kind } = this.#options;
    if (this.#closing !== null) throw new ValidationError(`${kind} is closed: ${folder}; open it again`, { folder });
    if (this.isReadOnly)
      throw new ValidationError(`${kind} is read-only: ${folder}; open it without readOnly`, { folder });
  }

  #enqueue<T>(payload: Payload | null, commit: (sequence: number, hash: string) => T): Promise<T> {
    this.#assertWritable();
    return new Promise<T>((resolve, fail) => {
      const finish = ({ sequence, hash }: JournalPosition) => {
        try {
          resolve(commit(sequence, hash));
        } catch (error) {
          fail(error);
        }
      };
      this.#queue.push({ payload, finish, fail });
      this.#writing ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // entries of the same moment share a batch
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch();
      try {
        const positions = await this.#writeBatch(batch);
        for (const [i, job] of batch.entries()) job.finish(positions[i] as JournalPosition);
      } catch (error) {
        for (const job of [...batch, ...this.#queue.splice(0)]) job.fail(error);
      }
    }
    this.#writing = null;
  }

  /** The jobs at the front that are written together: entries up to a size, or one beginning of a segment. */
  #takeBatch(): Job[] {
    let count = 0;
    for (let bytes = 0; count < this.#queue.length && bytes < BATCH_BYTES; count++) {
      const payload = this.#queue[count]?.payload ?? null;
      if (payload === null) break;
      bytes += countBytes(payload);
    }
    return this.#queue.splice(0, Math.max(count, 1));
  }

  /** @returns the position of each job. */
  async #writeBatch(batch: readonly Job[]): Promise<JournalPosition[]> {
    this.#writer.assertSound();
    if (!this.#writer.isOpen)
      throw new ValidationError(`${this.#options.kind} was not replayed: ${this.folder}; replay it first`);
    const payloads = batch.flatMap(({ payload }) => (payload === null ? [] : [payload]));
    if (payloads.length === 0 || this.#writer.size >= this.#options.segmentBytes) await this.#beginSegment();
    if (payloads.length === 0) return [this.#position];
    let last = this.#position;
    const positions = payloads.map((payload) => {
      last = { sequence: last.sequence + 1, hash: extendHash(last.hash, payload) };
      return last;
    });
    await this.#writer.append(last, payloads);
    this.#position = last;
    return positions;
  }

  async #beginSegment(): Promise<void> {
    const segment = await this.#writer.begin(this.#position);
    if (segment !== null) this.#segments.push(segment);
  }

  /**
   * Removes the segments whose entries all have a number up to `sequence`, unless the journal is only read.
   *
   * @throws StorageError.
   */
  dropThrough(sequence: number): void {
    if (this.isReadOnly) return;
    while (this.#segments.length > 1 && (this.#segments[1] as Segment).first <= sequence + 1) {
      const { path } = this.#segments[0] as Segment;
      try {
        rmSync(path, { force: true });
      } catch (error) {
        throw new StorageError('remove', path, { cause: error });
      }
      this.#segments.shift();
    }
  }

  /** Writes the entries that wait, syncs them unless fsync is `never`, and releases the folder. @throws StorageError. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    try {
      await this.#writing;
      await this.#writer.close();
    } finally {
      this.#lock?.release(this.folder);
    }
  }
}
