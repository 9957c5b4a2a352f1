import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { StorageError } from '../errors/errors.ts';
import type { Segment } from './segments.ts';

const syncData = promisify(fdatasync);

/** Room for entries that come alone: as much as the file has, within these bounds in bytes. */
const [LEAST_ROOM, MOST_ROOM] = [2 ** 12, 2 ** 18];
const ZEROS = new Uint8Array(MOST_ROOM);

/** What is left of parts after their first bytes. */
function dropBytes(parts: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let dropped = bytes;
  for (const [i, part] of parts.entries()) {
    if (dropped < part.byteLength) return [part.subarray(dropped), ...parts.slice(i + 1)];
    dropped -= part.byteLength;
  }
  return [];
}

/**
 * The file of the last segment of a journal: whole frames and, while it is written, zeros as room for the next ones. A
 * sync is twice as fast if it finds the length of the file unchanged. A process that is killed leaves the room, which is
 * no frame, as a torn tail. Errors are those of the system.
 */
export class SegmentFile {
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
