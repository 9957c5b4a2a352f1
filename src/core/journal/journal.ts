import { rmSync } from 'node:fs';
import { StorageError, ValidationError, WalCorruptedError } from '../errors.ts';
import { makeSyncedFolder } from '../files.ts';
import { FolderLock } from '../folder-lock.ts';
import { assertPayload } from './frame.ts';
import { type Fsync, SegmentWriter } from './segment-writer.ts';
import { type JournalEntry, type LostEntries, listSegments, readJournal, type Segment } from './segments.ts';

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
}

/** Entries that are written with one call. */
const BATCH_BYTES = 2 ** 26;

/** An entry that waits to be written; without a payload, the beginning of a new segment. */
interface Job {
  readonly payload: Uint8Array | null;
  readonly finish: (sequence: number) => void;
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
  readonly #lock: FolderLock;
  readonly #segments: Segment[];
  readonly #queue: Job[] = [];
  #writing: Promise<void> | null = null;
  readonly #writer: SegmentWriter;
  #sequence = 0;
  #closing: Promise<void> | null = null;

  private constructor(folder: string, options: Required<JournalOptions>, lock: FolderLock) {
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
    makeSyncedFolder(folder);
    const all = { fsync: 'always', intervalMs: 100, segmentBytes: 2 ** 26, kind: 'journal', ...options } as const;
    const lock = FolderLock.acquire(folder, all.kind);
    try {
      return new Journal(folder, { remedy: 'restore the folder from a copy', ...all }, lock);
    } catch (error) {
      lock.release(folder);
      throw error;
    }
  }

  /** The number of the last acknowledged entry; 0 if there is none. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Reads the entries after a sequence, then cuts a torn tail: bytes at the end that are no whole entry, as a writer leaves that was killed.
   *
   * @param after the last entry that the caller has from elsewhere, such as a snapshot.
   * @throws WalCorruptedError with the first lost entry for damage before the end; nothing is changed then. StorageError.
   */
  async replay(after: number, visit: (entry: JournalEntry) => void): Promise<void> {
    const { remedy } = this.#options;
    const tail = await readJournal(this.#segments, after, {
      entry: visit,
      lost: ({ path, from, reason }: LostEntries) => {
        throw new WalCorruptedError(path, from, reason, remedy);
      },
    });
    this.#sequence = Math.max(tail.next - 1, after);
    const last = this.#segments.at(-1);
    if (last === undefined) await this.#beginSegment();
    else {
      await this.#writer.take(last, tail.end, tail.torn);
      if (tail.next <= after) await this.#beginSegment();
    }
  }

  /**
   * Writes an entry. If a write fails, the entries that wait behind it fail with it, and none of them is in the journal. After a failure that leaves the state
   * of the file unknown, as a failed sync does, the journal refuses every entry until it is opened again; entries that were not acknowledged may then be there,
   * each as a whole.
   *
   * @param commit runs when the entry is acknowledged, in the order of the entries.
   * @returns the value of `commit`.
   * @throws StorageError, ValidationError after {@link close} and for an entry of more than 1 GiB.
   */
  append<T>(payload: Uint8Array, commit: (sequence: number) => T): Promise<T> {
    assertPayload(payload);
    return this.#enqueue(payload, commit);
  }

  /** Begins a new segment, so that {@link dropThrough} can remove the entries so far. @throws StorageError. */
  rotate(): Promise<void> {
    return this.#enqueue(null, () => {});
  }

  #enqueue<T>(payload: Uint8Array | null, commit: (sequence: number) => T): Promise<T> {
    if (this.#closing !== null)
      throw new ValidationError(`${this.#options.kind} is closed: ${this.folder}; open it again`, {
        folder: this.folder,
      });
    return new Promise<T>((resolve, fail) => {
      const finish = (sequence: number) => {
        try {
          resolve(commit(sequence));
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
      const first = this.#sequence + 1;
      try {
        await this.#writeBatch(batch);
        for (const [i, job] of batch.entries()) job.finish(first + i);
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
      bytes += payload.byteLength;
    }
    return this.#queue.splice(0, Math.max(count, 1));
  }

  async #writeBatch(batch: readonly Job[]): Promise<void> {
    this.#writer.assertSound();
    if (!this.#writer.isOpen)
      throw new ValidationError(`${this.#options.kind} was not replayed: ${this.folder}; replay it first`);
    const payloads = batch.flatMap(({ payload }) => payload ?? []);
    if (payloads.length === 0 || this.#writer.size >= this.#options.segmentBytes) await this.#beginSegment();
    if (payloads.length === 0) return;
    await this.#writer.append(this.#sequence + 1, payloads);
    this.#sequence += payloads.length;
  }

  async #beginSegment(): Promise<void> {
    const segment = await this.#writer.begin(this.#sequence + 1);
    if (segment !== null) this.#segments.push(segment);
  }

  /** Removes the segments whose entries all have a number up to `sequence`. @throws StorageError. */
  dropThrough(sequence: number): void {
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
      this.#lock.release(this.folder);
    }
  }
}
