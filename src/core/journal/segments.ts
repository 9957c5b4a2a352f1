import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { letEventsIn } from '../event-loop.ts';
import { readBytes, readFolder } from '../files.ts';
import { scanFrames } from './scan.ts';

const SEGMENT = /^(\d{16})-([0-9a-f]{8})\.journal$/;

/** A file of a journal. Its name holds what is needed to read it, so the file begins with its first frame. */
export interface Segment {
  readonly path: string;
  /** The sequence of its first entry. */
  readonly first: number;
  /** Begins the checksum of each frame. */
  readonly salt: number;
}

/** The segments in a folder, in the order of their entries. */
export function listSegments(folder: string): Segment[] {
  const found = readFolder(folder).flatMap((name) => {
    const [, first, salt] = SEGMENT.exec(name) ?? [];
    return first === undefined || salt === undefined
      ? []
      : { path: join(folder, name), first: Number(first), salt: Number.parseInt(salt, 16) };
  });
  return found.sort((a, b) => a.first - b.first);
}

/** A segment that is not in use yet. */
export function nameSegment(folder: string, first: number): Segment {
  const salt = randomBytes(4);
  const name = `${String(first).padStart(16, '0')}-${salt.toString('hex')}.journal`;
  return { path: join(folder, name), first, salt: salt.readUInt32BE() };
}

/** Entries that a journal should have and does not. */
export interface LostEntries {
  readonly path: string;
  readonly reason: string;
  readonly from: number;
  /** The last of them; null if it is not known. */
  readonly to: number | null;
}

/** A payload with its number, from 1 without gaps. */
export interface JournalEntry {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** The end of a journal. */
export interface JournalTail {
  /** The sequence that the next entry gets. */
  readonly next: number;
  /** The length of the whole frames of the last segment; 0 without a segment. */
  readonly end: number;
  /** The bytes after them: what a writer that was killed has left. */
  readonly torn: number;
}

/** Receives what a journal holds. */
export interface JournalVisitor {
  entry(entry: JournalEntry): void;
  lost(entries: LostEntries): void;
}

/** Reads segments in order, the entries after a sequence. */
class SegmentReader {
  readonly #after: number;
  readonly #visitor: JournalVisitor;
  /** The sequence that should follow. */
  #next: number;
  #tail = { end: 0, torn: 0 };
  #isBegun = false;

  constructor(after: number, visitor: JournalVisitor) {
    this.#after = after;
    this.#visitor = visitor;
    this.#next = after + 1;
  }

  get tail(): JournalTail {
    return { next: this.#next, ...this.#tail };
  }

  /** Reports the entries from the expected one to `to`, unless none of them is needed. */
  #reportLost(path: string, reason: string, to: number | null): void {
    const from = Math.max(this.#next, this.#after + 1);
    if (to === null || from <= to) this.#visitor.lost({ path, reason, from, to });
  }

  read(segment: Segment): void {
    const { path, first } = segment;
    if (this.#isBegun && first < this.#next) {
      const reason = `it begins with entry ${first}, which another file holds too`;
      this.#visitor.lost({ path, reason, from: first, to: null });
      return;
    }
    this.#reportLost(path, `it begins with entry ${first}`, first - 1);
    this.#isBegun = true;
    this.#next = first;
    this.#readFrames(segment);
  }

  #readFrames({ path, first, salt }: Segment): void {
    const bytes = readBytes(path) as Buffer;
    this.#tail = { end: bytes.byteLength, torn: 0 };
    for (const found of scanFrames(bytes, salt, first)) {
      if (found.kind === 'frame') {
        if (found.sequence > this.#after) this.#visitor.entry(found);
        this.#next = found.sequence + 1;
      } else if (found.next !== null || found.undecided)
        this.#reportLost(path, `no entry can be read at byte ${found.at}`, found.next === null ? null : found.next - 1);
      else this.#tail = { end: found.at, torn: bytes.byteLength - found.at };
    }
  }
}

/**
 * Reads the entries after a sequence, in order. Segments that hold none of them are not opened.
 *
 * Damage after which a frame or another segment follows is reported as lost entries. Damage at the end of the last segment is its torn tail. Damage to
 * entries up to `after` is no loss.
 *
 * @throws StorageError for a file that cannot be read.
 */
export async function readJournal(
  segments: readonly Segment[],
  after: number,
  visitor: JournalVisitor,
): Promise<JournalTail> {
  const reader = new SegmentReader(after, visitor);
  for (const [i, segment] of segments.entries()) {
    const following = segments[i + 1];
    if (following !== undefined && following.first <= after + 1) continue;
    reader.read(segment);
    await letEventsIn();
  }
  return reader.tail;
}
