import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { StorageError, ValidationError, WalCorruptedError } from '../errors.ts';
import { makeSyncedFolder, syncFolder, writeFully } from '../files.ts';
import { FolderLock } from '../folder-lock.ts';
import { assertPayload, encodeFrames } from './frame.ts';
import {
  type JournalEntry,
  type LostEntries,
  listSegments,
  nameSegment,
  readJournal,
  type Segment,
} from './segments.ts';

const syncData = promisify(fdatasync);

/** When entries are synced to the disk: before each is acknowledged, at intervals, or by the system alone. */
export type Fsync = 'always' | 'interval' | 'never';

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
const REOPEN = 'free disk space or restore the folder, then open it again';

/** An entry that waits to be written; without a payload, the beginning of a new segment. */
interface Job {
  readonly payload: Uint8Array | null;
  readonly finish: (sequence: number) => void;
  readonly fail: (error: unknown) => void;
}

interface OpenSegment extends Segment {
  readonly file: number;
  /** The bytes of whole frames. */
  size: number;
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
  #current: OpenSegment | null = null;
  #sequence = 0;
  #failure: StorageError | null = null;
  #closing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #syncing: Promise<void> = Promise.resolve();

  private constructor(folder: string, options: Required<JournalOptions>, lock: FolderLock) {
    this.folder = folder;
    this.#options = options;
    this.#lock = lock;
    this.#segments = listSegments(folder);
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
      this.#current = this.#openEnd(last, tail.end, tail.torn);
      // Entries that a killed writer did not sync are read above, so they must stay.
      if (this.#options.fsync !== 'never') await this.#sync(this.#current);
      if (tail.next <= after) await this.#beginSegment();
    }
  }

  /** Opens a segment to append after its whole frames. */
  #openEnd(segment: Segment, end: number, torn: number): OpenSegment {
    let file: number | null = null;
    try {
      file = openSync(segment.path, 'a');
      if (torn > 0) ftruncateSync(file, end);
      return { ...segment, file, size: end };
    } catch (error) {
      if (file !== null) closeSync(file);
      throw new StorageError('open', segment.path, { cause: error });
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
    if (this.#failure !== null) throw this.#failure;
    const payloads = batch.flatMap(({ payload }) => payload ?? []);
    const current = this.#current;
    if (current === null)
      throw new ValidationError(`${this.#options.kind} was not replayed: ${this.folder}; replay it first`);
    if (payloads.length === 0 || current.size >= this.#options.segmentBytes) await this.#beginSegment();
    if (payloads.length > 0) await this.#writeEntries(payloads);
  }

  async #writeEntries(payloads: readonly Uint8Array[]): Promise<void> {
    const current = this.#current as OpenSegment;
    const bytes = encodeFrames(current.salt, this.#sequence + 1, payloads);
    this.#write(current, bytes);
    if (this.#options.fsync === 'always') await this.#sync(current);
    this.#assertWhole(current, current.size + bytes.byteLength);
    current.size += bytes.byteLength;
    this.#sequence += payloads.length;
    if (this.#options.fsync === 'interval') this.#timer ??= this.#startTimer();
  }

  /** Writes all bytes, or cuts the segment back to what it was. */
  #write({ file, path, size }: OpenSegment, bytes: Buffer): void {
    try {
      writeFully(file, bytes);
    } catch (error) {
      try {
        ftruncateSync(file, size);
      } catch (cutting) {
        this.#refuseEntries('cut', path, cutting);
      }
      throw new StorageError('write', path, { cause: error, remedy: 'free disk space and write again' });
    }
  }

  /** A failed sync leaves unknown what is on the disk, also if a later one succeeds. */
  async #sync({ file, path }: OpenSegment): Promise<void> {
    try {
      await syncData(file);
    } catch (error) {
      throw this.#refuseEntries('sync', path, error);
    }
  }

  /** Finds a segment that was deleted, or that another process has changed. */
  #assertWhole({ file, path }: OpenSegment, size: number): void {
    const stats = fstatSync(file);
    if (stats.nlink === 0) throw this.#refuseEntries('write', path, new Error('the file was deleted'));
    if (stats.size !== size)
      throw this.#refuseEntries('write', path, new Error(`it has ${stats.size} bytes instead of ${size}`));
  }

  #refuseEntries(action: string, path: string, cause: unknown): StorageError {
    this.#failure ??= new StorageError(action, path, { cause, remedy: REOPEN });
    return this.#failure;
  }

  #startTimer(): NodeJS.Timeout {
    const sync = () => {
      this.#timer = null;
      const current = this.#current;
      if (current === null) return;
      this.#syncing = this.#sync(current).catch(() => {}); // later entries are refused
    };
    return setTimeout(sync, this.#options.intervalMs).unref();
  }

  /** Makes the file of the next entries, unless the last one has none yet; the earlier file is complete. */
  async #beginSegment(): Promise<void> {
    const segment = nameSegment(this.folder, this.#sequence + 1);
    if (this.#current?.first === segment.first) return;
    const isSynced = this.#options.fsync !== 'never';
    if (this.#current !== null && isSynced) await this.#sync(this.#current);
    await this.#syncing;
    const next = { ...segment, file: this.#makeFile(segment), size: 0 };
    try {
      if (isSynced) syncFolder(this.folder);
    } catch (error) {
      closeSync(next.file);
      rmSync(segment.path, { force: true });
      throw error;
    }
    if (this.#current !== null) closeSync(this.#current.file);
    this.#current = next;
    this.#segments.push(segment);
  }

  #makeFile({ path }: Segment): number {
    try {
      return openSync(path, 'ax');
    } catch (error) {
      throw new StorageError('write', path, {
        cause: error,
        remedy: 'check that the folder exists and can be written',
      });
    }
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
      if (this.#timer !== null) clearTimeout(this.#timer);
      await this.#syncing;
      const isUnsynced = this.#failure === null && this.#options.fsync === 'interval';
      if (this.#current !== null && isUnsynced) await this.#sync(this.#current);
      this.#closeFile();
    } finally {
      this.#lock.release(this.folder);
    }
  }

  #closeFile(): void {
    const current = this.#current;
    this.#current = null;
    if (current === null) return;
    try {
      closeSync(current.file);
    } catch (error) {
      throw this.#refuseEntries('close', current.path, error);
    }
  }
}
