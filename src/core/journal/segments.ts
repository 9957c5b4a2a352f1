import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError, ValidationError } from '../errors/errors.ts';
import { assertNoLink, readBytes, readFolder, readText } from '../files/files.ts';
import { computeCrc32 } from '../hash/hash.ts';
import { letEventsIn } from '../terminal/progress.ts';
import { parseOrNull } from '../validation/validation.ts';
import { decodeFrame, FRAME_HEADER_BYTES, type Frame, readFrameEnd, readSequence } from './frame.ts';
import { extendHash, type JournalPosition, journalPosition, UNKNOWN_HASH } from './position.ts';

const NAME = 'end';
/** All writes have this length, so that each replaces the whole file at once. */
const BYTES = 256;

const endSchema = journalPosition.extend({
  /** True if the entries so far are on the disk, also after a power failure. */
  isSynced: z.boolean(),
  /** The start of the system under which it was written; empty if the system does not report it. */
  boot: z.string(),
});
/** The last entry that a journal has acknowledged. */
export type JournalEnd = Readonly<z.output<typeof endSchema>>;

/** The identity of this start of the system. */
export function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The end that a folder says its journal has; null for a file that is missing or damaged. @throws StorageError. */
export function readJournalEnd(folder: string): JournalEnd | null {
  const path = join(folder, NAME);
  if (!existsSync(path)) return null;
  assertNoLink(path);
  const text = readText(path);
  const [, json = '', crc] = /^(.*\}) *([0-9a-f]{8})\n$/.exec(text) ?? [];
  if (crc === undefined || computeCrc32(Buffer.from(json)) !== Number.parseInt(crc, 16)) return null;
  return parseOrNull(endSchema, JSON.parse(json));
}

function encodeEnd(end: JournalEnd): Buffer {
  const json = JSON.stringify(end);
  const crc = computeCrc32(Buffer.from(json)).toString(16).padStart(8, '0');
  return Buffer.from(`${json.padEnd(BYTES - crc.length - 1)}${crc}\n`);
}

/**
 * The file that says where a journal ends, written before each acknowledgement and never synced: it may be behind the
 * journal, and is ahead of it only if the journal has lost entries.
 */
export class JournalEndFile {
  readonly #path: string;
  readonly #file: number;
  readonly #boot = readBoot();

  /** @throws StorageError. */
  constructor(folder: string) {
    this.#path = join(folder, NAME);
    assertNoLink(this.#path);
    this.#file = this.#run('open', () => openSync(this.#path, existsSync(this.#path) ? 'r+' : 'wx'));
  }

  #run<T>(action: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new StorageError(action, this.#path, { cause: error });
    }
  }

  /** @throws StorageError. */
  write({ sequence, hash }: JournalPosition, isSynced: boolean): void {
    const bytes = encodeEnd({ sequence, hash, isSynced, boot: this.#boot });
    this.#run('write', () => {
      const written = writeSync(this.#file, bytes, 0, bytes.byteLength, 0);
      if (written !== bytes.byteLength) throw new Error(`${written} of ${bytes.byteLength} bytes were written`);
    });
  }

  close(): void {
    this.#run('close', () => closeSync(this.#file));
  }
}

/** A frame after damage has a sequence at most this far from the expected one. */
const SEQUENCE_WINDOW = 2 ** 32;
/** Bytes that the search for frames may check, for each byte of the segment. */
const CHECKS_PER_BYTE = 8;

/** Bytes that are no frame. */
interface Damage {
  /** The first byte that is not part of a frame. */
  readonly at: number;
  /** The sequence that should be there. */
  readonly expected: number;
  /** The sequence of the next frame in the segment; null if none follows. */
  readonly next: number | null;
  /** True if the search for a next frame was given up: see {@link scanFrames}. */
  readonly undecided: boolean;
}

type Scanned = ({ readonly kind: 'frame' } & Frame) | ({ readonly kind: 'damage' } & Damage);

/** The bytes that may still be checked; below 0 when no more may be. */
interface Budget {
  left: number;
}

/** The frame at a place if it has a possible sequence and a correct checksum. */
function findFrameAt(bytes: Buffer, at: number, salt: number, expected: number, budget: Budget): Frame | null {
  const distance = readSequence(bytes, at) - expected;
  if (distance < 0 || distance >= SEQUENCE_WINDOW) return null;
  const end = readFrameEnd(bytes, at);
  if (end === null) return null;
  budget.left -= end - at;
  return budget.left < 0 ? null : decodeFrame(bytes, at, salt);
}

/** The next frame from `at` on whose sequence is `expected` or later; null if there is none, or if the budget ended. */
function findFrame(bytes: Buffer, at: number, salt: number, expected: number, budget: Budget): Frame | null {
  const last = bytes.byteLength - FRAME_HEADER_BYTES;
  for (let offset = at; offset <= last && budget.left >= 0; offset++) {
    const frame = findFrameAt(bytes, offset, salt, expected, budget);
    if (frame !== null) return frame;
  }
  return null;
}

/**
 * The frames of a segment in order, and the damage between and after them.
 *
 * A place without a correct frame, or with one of another sequence, is searched byte by byte for the next frame, since
 * the damaged byte may be in a length. Damage with a later frame is damage inside; damage that no frame follows is a
 * torn tail. The checksums of the search cost at most {@link CHECKS_PER_BYTE} times the segment. Only a segment that
 * was made to be slow needs more; the rest of it counts as damage, not as a torn tail.
 */
function* scanFrames(bytes: Buffer, salt: number, first: number): Generator<Scanned> {
  const budget = { left: CHECKS_PER_BYTE * bytes.byteLength };
  let expected = first;
  for (let at = 0; at < bytes.byteLength; ) {
    const frame = findFrame(bytes, at, salt, expected, budget);
    if (frame === null || frame.at !== at || frame.sequence !== expected)
      yield { kind: 'damage', at, expected, next: frame?.sequence ?? null, undecided: budget.left < 0 };
    if (frame === null) return;
    yield { kind: 'frame', ...frame };
    at = frame.end;
    expected = frame.sequence + 1;
  }
}

const SEGMENT = /^(\d{16})-([0-9a-f]{8})-([0-9a-f]{32})\.journal$/;
/** Names without the running hash. */
const EARLIER_SEGMENT = /^\d{16}-[0-9a-f]{8}\.journal$/;

/** A file of a journal. Its name holds what is needed to read it, so the file begins with its first frame. */
export interface Segment {
  readonly path: string;
  /** The sequence of its first entry. */
  readonly first: number;
  /** Begins the checksum of each frame. */
  readonly salt: number;
  /** The running hash of the entries before its first one. */
  readonly hash: string;
}

/** The segments in a folder, in the order of their entries. @throws ValidationError for a folder of an earlier form. */
export function listSegments(folder: string): Segment[] {
  const names = readFolder(folder);
  if (names.some((name) => EARLIER_SEGMENT.test(name)))
    throw new ValidationError(
      `folder has a journal of an earlier form: ${folder}; export it with the version that wrote it, and import into a new folder`,
      { folder },
    );
  const found = names.flatMap((name) => {
    const [, first, salt, hash] = SEGMENT.exec(name) ?? [];
    return first === undefined || salt === undefined || hash === undefined
      ? []
      : { path: join(folder, name), first: Number(first), salt: Number.parseInt(salt, 16), hash };
  });
  return found.sort((a, b) => a.first - b.first);
}

/** A segment that is not in use yet, for the entries after a position. */
export function nameSegment(folder: string, { sequence, hash }: JournalPosition): Segment {
  const salt = randomBytes(4);
  const first = sequence + 1;
  const name = `${String(first).padStart(16, '0')}-${salt.toString('hex')}-${hash}.journal`;
  return { path: join(folder, name), first, salt: salt.readUInt32BE(), hash };
}

/** The running hash up to an entry of a segment, or up to the one before it; null if it cannot be read. */
export function readHashAt({ path, first, salt, hash }: Segment, sequence: number): string | null {
  if (sequence === first - 1) return hash;
  let running = hash;
  for (const found of scanFrames(readBytes(path) as Buffer, salt, first)) {
    if (found.kind === 'damage') return null;
    running = extendHash(running, [found.payload]);
    if (found.sequence === sequence) return running;
  }
  return null;
}

/** Entries that a journal should have and does not. */
export interface LostEntries {
  readonly path: string;
  readonly reason: string;
  readonly from: number;
  /** The last of them; null if it is not known. */
  readonly to: number | null;
}

/** A payload with its position; numbers go from 1 without gaps. */
export interface JournalEntry extends JournalPosition {
  readonly payload: Uint8Array;
}

/** The end of a journal. */
export interface JournalTail {
  /** The sequence that the next entry gets. */
  readonly next: number;
  /** The running hash of the entries before it. */
  readonly hash: string;
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

/** Reads segments in order, the entries after a position. */
class SegmentReader {
  readonly #after: JournalPosition;
  readonly #visitor: JournalVisitor;
  /** The sequence that should follow. */
  #next: number;
  /** The running hash of the entries before the one that should follow. */
  #hash: string;
  #tail = { end: 0, torn: 0 };
  #isBegun = false;

  constructor(after: JournalPosition, visitor: JournalVisitor) {
    this.#after = after;
    this.#visitor = visitor;
    this.#next = after.sequence + 1;
    this.#hash = after.hash;
  }

  get tail(): JournalTail {
    return { next: this.#next, hash: this.#hash, ...this.#tail };
  }

  /** Reports the entries from the expected one to `to`, unless none of them is needed. */
  #reportLost(path: string, reason: string, to: number | null): void {
    const from = Math.max(this.#next, this.#after.sequence + 1);
    if (to === null || from <= to) this.#visitor.lost({ path, reason, from, to });
  }

  read(segment: Segment): void {
    const { path, first, hash } = segment;
    if (this.#isBegun && first < this.#next) {
      const reason = `it begins with entry ${first}, which another file holds too`;
      this.#visitor.lost({ path, reason, from: first, to: null });
      return;
    }
    if (first === this.#next && this.#hash !== UNKNOWN_HASH && hash !== this.#hash) {
      this.#reportLost(path, `it follows another entry ${first - 1} than the one that is there`, null);
      return;
    }
    this.#reportLost(path, `it begins with entry ${first}`, first - 1);
    this.#isBegun = true;
    this.#next = first;
    this.#hash = hash;
    this.#readFrames(segment);
  }

  #readFrames({ path, first, salt }: Segment): void {
    const bytes = readBytes(path) as Buffer;
    this.#tail = { end: bytes.byteLength, torn: 0 };
    for (const found of scanFrames(bytes, salt, first)) {
      if (found.kind === 'frame') {
        if (!this.#take(path, found)) return;
      } else if (found.next !== null || found.undecided) {
        this.#reportLost(path, `no entry can be read at byte ${found.at}`, found.next === null ? null : found.next - 1);
        this.#hash = UNKNOWN_HASH;
      } else this.#tail = { end: found.at, torn: bytes.byteLength - found.at };
    }
  }

  /**
   * @returns false for an entry of another history than that of the snapshot: those after it follow what is not there.
   */
  #take(path: string, { sequence, payload }: Pick<JournalEntry, 'sequence' | 'payload'>): boolean {
    const after = this.#after;
    const before = sequence - 1 === after.sequence ? after.hash : this.#hash;
    this.#hash = before === UNKNOWN_HASH ? UNKNOWN_HASH : extendHash(before, [payload]);
    this.#next = sequence + 1;
    if (sequence > after.sequence) this.#visitor.entry({ sequence, hash: this.#hash, payload });
    const isForeign =
      sequence === after.sequence && ![this.#hash, after.hash].includes(UNKNOWN_HASH) && this.#hash !== after.hash;
    if (isForeign) this.#reportLost(path, `its entry ${sequence} is another one than that of the snapshot`, null);
    return !isForeign;
  }
}

/**
 * Reads the entries after a position, in order. Segments that hold none of them are not opened.
 *
 * Damage after which a frame or another segment follows is reported as lost entries, as is a segment whose entries
 * follow another history. Damage at the end of the last segment is its torn tail. Damage to entries up to `after` is
 * no loss.
 *
 * @throws StorageError for a file that cannot be read.
 */
export async function readJournal(
  segments: readonly Segment[],
  after: JournalPosition,
  visitor: JournalVisitor,
): Promise<JournalTail> {
  const reader = new SegmentReader(after, visitor);
  for (const [i, segment] of segments.entries()) {
    const following = segments[i + 1];
    if (following !== undefined && following.first <= after.sequence + 1) continue;
    reader.read(segment);
    await letEventsIn();
  }
  return reader.tail;
}
