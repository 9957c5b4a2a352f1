import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { StorageError } from '../errors/errors.ts';
import { syncFolder } from '../files/files.ts';
import { createEventBreaks } from '../terminal/progress.ts';
import { encodeFrames } from './frame.ts';
import type { JournalPosition, Payload } from './position.ts';
import { JournalEndFile, nameSegment, type Segment } from './segments.ts';

const syncData = promisify(fdatasync);

/** Room for entries that come alone: as much as the file has, within these bounds in bytes. */
const [LEAST_ROOM, MOST_ROOM] = [2 ** 12, 2 ** 18];
const ZEROS = new Uint8Array(MOST_ROOM);

/** Drops the first bytes of parts. @returns the rest. */
function dropBytes(parts: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let dropped = bytes;
  for (const [i, part] of parts.entries()) {
    if (dropped < part.byteLength) return [part.subarray(dropped), ...parts.slice(i + 1)];
    dropped -= part.byteLength;
  }
  return [];
}

/**
 * The file of the last segment of a journal: whole frames and, while it is written, zeros as room for the next ones.
 * A sync takes half of the time if the file keeps its length. A process that is killed leaves the room as a torn tail,
 * since it is no frame. Errors are those of the system.
 */
class SegmentFile {
  readonly segment: Segment;
  readonly #file: number;
  #size: number;
  #length: number;

  private constructor(segment: Segment, file: number, size: number) {
    this.segment = segment;
    this.#file = file;
    this.#size = size;
    this.#length = size;
  }

  /** @throws StorageError. */
  static make(segment: Segment): SegmentFile {
    try {
      return new SegmentFile(segment, openSync(segment.path, 'wx'), 0);
    } catch (error) {
      throw new StorageError('write', segment.path, {
        cause: error,
        remedy: 'check that the folder exists and can be written',
      });
    }
  }

  /** Opens a file to write after its whole frames, and cuts what is torn. @throws StorageError. */
  static open(segment: Segment, end: number, torn: number): SegmentFile {
    let file: number | null = null;
    try {
      file = openSync(segment.path, 'r+');
      if (torn > 0) ftruncateSync(file, end);
      return new SegmentFile(segment, file, end);
    } catch (error) {
      if (file !== null) closeSync(file);
      throw new StorageError('open', segment.path, { cause: error });
    }
  }

  /** The bytes of whole frames. */
  get size(): number {
    return this.#size;
  }

  get hasRoom(): boolean {
    return this.#length > this.#size;
  }

  /** Describes how another program has changed the file; null if none has. */
  describeChange(): string | null {
    const { nlink, size } = fstatSync(this.#file);
    if (nlink === 0) return 'the file was deleted';
    return size === this.#length ? null : `it has ${size} bytes instead of ${this.#length}`;
  }

  /** Writes all bytes after the whole frames; repeats, since the system may write fewer. @returns where they end. */
  write(parts: readonly Uint8Array[]): number {
    let end = this.#size;
    for (let left = parts; left.length > 0; ) {
      const written = writevSync(this.#file, left, end);
      if (written === 0) throw new Error(`no byte was written after ${end}`);
      end += written;
      left = dropBytes(left, written);
    }
    this.#length = Math.max(this.#length, end);
    return end;
  }

  /** Adds room after bytes that were written. A disk that is full adds none: the bytes are there all the same. */
  makeRoom(end: number): void {
    if (end < this.#length) return;
    const room = Math.min(Math.max(end, LEAST_ROOM), MOST_ROOM);
    try {
      this.#length += writeSync(this.#file, ZEROS, 0, room, end);
    } catch {
      // the next sync writes the length of the file, and reports a disk that fails
    }
  }

  /** Counts bytes that were written as whole frames. */
  keep(end: number): void {
    this.#size = end;
  }

  /** Cuts the file to its whole frames. */
  cut(): void {
    ftruncateSync(this.#file, this.#size);
    this.#length = this.#size;
  }

  sync(): Promise<void> {
    return syncData(this.#file);
  }

  /** {@link SegmentFile.sync} by this thread. */
  syncHere(): void {
    fdatasyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** When entries are synced to the disk: before each is acknowledged, at intervals, or by the system alone. */
export type Fsync = 'always' | 'interval' | 'never';

/** When the bytes of a segment are synced. */
export interface SyncOptions {
  readonly fsync: Fsync;
  readonly intervalMs: number;
}

/** The longest sync by this thread that does not leave the next ones to another thread. */
const LONGEST_PAUSE_MS = 1;
/** Syncs that are left after the first long one, and at most; each long one that follows doubles them. */
const [LEFT, MOST_LEFT] = [16, 1024];

const REOPEN = 'free disk space or restore the folder, then open it again';

/**
 * Writes the last segment of a journal. A write that fails leaves the segment as it was. Where that cannot be, or where a sync fails, it is not known what the
 * file holds: from then on every write is refused with that error.
 */
export class SegmentWriter {
  readonly #folder: string;
  readonly #options: SyncOptions;
  #current: SegmentFile | null = null;
  #failure: StorageError | null = null;
  #timer: NodeJS.Timeout | null = null;
  #syncing: Promise<void> = Promise.resolve();
  /** The number of entries that were synced last. */
  #syncedEntries = 0;
  readonly #pause = createEventBreaks();
  /** Syncs of one entry that are left to another thread, and how many they will be after the next long sync. */
  #left = 0;
  #nextLeft = LEFT;
  #end: JournalEndFile | null = null;
  /** The last entry that was written here. */
  #written: JournalPosition | null = null;

  constructor(folder: string, options: SyncOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** True if a segment is open. */
  get isOpen(): boolean {
    return this.#current !== null;
  }

  /** The bytes of the whole frames of the segment; 0 without one. */
  get size(): number {
    return this.#current?.size ?? 0;
  }

  /**
   * Makes ready to say where the journal ends.
   *
   * @param end says so at once; null: the folder does already.
   * @throws StorageError.
   */
  trackEnd(end: JournalPosition | null): void {
    this.#end = new JournalEndFile(this.#folder);
    if (end !== null) this.#end.write(end, this.#options.fsync !== 'never');
  }

  /** Says that the journal ends with the last entry that was written. @throws StorageError. */
  #writeEnd(isSynced: boolean): void {
    if (this.#written === null) return;
    try {
      this.#end?.write(this.#written, isSynced);
    } catch (error) {
      this.#failure ??= error as StorageError; // the entries are there, and the next ones must not get their numbers
      throw error;
    }
  }

  /** @throws StorageError if the state of the file is unknown. */
  assertSound(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** Continues a segment after its whole frames; what is torn is cut. @throws StorageError. */
  async take(segment: Segment, end: number, torn: number): Promise<void> {
    this.#current = SegmentFile.open(segment, end, torn);
    // Entries that a killed writer did not sync were read, so they must stay.
    if (this.#options.fsync !== 'never') await this.#sync(this.#current);
  }

  /**
   * Makes the file of the next entries, unless the last one has none yet; the earlier file is complete.
   *
   * @param after the position of the last entry before it.
   * @returns the new segment; null if none was needed.
   * @throws StorageError; the earlier segment goes on then.
   */
  async begin(after: JournalPosition): Promise<Segment | null> {
    const segment = nameSegment(this.#folder, after);
    if (this.#current?.segment.first === segment.first) return null;
    const isSynced = this.#options.fsync !== 'never';
    if (this.#current?.hasRoom === true) this.#cut(this.#current);
    this.assertSound();
    if (this.#current !== null && isSynced) await this.#sync(this.#current);
    await this.#syncing;
    const next = SegmentFile.make(segment);
    try {
      if (isSynced) syncFolder(this.#folder);
    } catch (error) {
      next.close();
      rmSync(segment.path, { force: true });
      throw error;
    }
    this.#current?.close();
    this.#current = next;
    return segment;
  }

  /**
   * Writes entries with successive sequences, and syncs them as the options ask. A segment must be open.
   *
   * @param last the position of the last of them.
   * @throws StorageError.
   */
  async append(last: JournalPosition, payloads: readonly Payload[]): Promise<void> {
    const current = this.#current as SegmentFile;
    const end = this.#write(current, last.sequence + 1 - payloads.length, payloads);
    if (this.#options.fsync === 'always') await this.#syncEntries(current, end, payloads.length);
    current.keep(end);
    this.#written = last;
    this.#writeEnd(this.#options.fsync === 'always');
    if (this.#options.fsync === 'interval') this.#timer ??= this.#startTimer();
  }

  /** Writes all bytes, or cuts the segment back to what it was. @returns where they end. */
  #write(current: SegmentFile, first: number, payloads: readonly Payload[]): number {
    const { path, salt } = current.segment;
    try {
      const change = current.describeChange();
      if (change !== null) throw this.#refuseEntries('write', path, new Error(change));
      // Of several frames over zeros a power failure may leave the last alone, which is damage inside.
      if (payloads.length > 1 && current.hasRoom) current.cut();
      return current.write(encodeFrames(salt, first, payloads));
    } catch (error) {
      if (error === this.#failure) throw error;
      this.#cut(current);
      throw new StorageError('write', path, { cause: error, remedy: 'free disk space and write again' });
    }
  }

  /**
   * Syncs entries. An entry that comes alone after another one is synced by this thread if the disk is fast: the way to
   * another thread and back takes as long as the sync. Entries that come together are synced by another thread, during
   * which the next ones gather.
   */
  async #syncEntries(current: SegmentFile, end: number, entries: number): Promise<void> {
    const isLone = entries === 1 && this.#syncedEntries === 1;
    this.#syncedEntries = entries;
    if (isLone) current.makeRoom(end);
    if (!isLone || this.#left > 0) {
      if (isLone) this.#left--;
      return this.#sync(current);
    }
    this.#syncHere(current);
    await this.#pause(); // a writer that waits for nothing else would let no other event in
  }

  #syncHere(current: SegmentFile): void {
    const started = performance.now();
    try {
      current.syncHere();
    } catch (error) {
      throw this.#refuseEntries('sync', current.segment.path, error);
    }
    const isLong = performance.now() - started > LONGEST_PAUSE_MS;
    this.#left = isLong ? this.#nextLeft : 0;
    this.#nextLeft = isLong ? Math.min(2 * this.#nextLeft, MOST_LEFT) : LEFT;
  }

  /** A failed sync leaves unknown what is on the disk, also if a later one succeeds. */
  async #sync(current: SegmentFile): Promise<void> {
    try {
      await current.sync();
    } catch (error) {
      throw this.#refuseEntries('sync', current.segment.path, error);
    }
  }

  /** Cuts a segment to its whole frames. */
  #cut(current: SegmentFile): void {
    try {
      current.cut();
    } catch (error) {
      this.#refuseEntries('cut', current.segment.path, error);
    }
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

  /** Syncs what is not synced yet, unless fsync is `never`, and closes the file. @throws StorageError. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#syncing;
    const isUnsynced = this.#failure === null && this.#options.fsync === 'interval';
    try {
      if (this.#current !== null && isUnsynced) await this.#sync(this.#current);
      if (isUnsynced) this.#writeEnd(true);
    } finally {
      this.#end?.close();
      this.#end = null;
      this.#closeFile();
    }
  }

  #closeFile(): void {
    const current = this.#current;
    this.#current = null;
    if (current === null) return;
    try {
      if (this.#failure === null && current.hasRoom) current.cut();
      current.close();
    } catch (error) {
      throw this.#refuseEntries('close', current.segment.path, error);
    }
  }
}
