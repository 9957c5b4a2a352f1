import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readdirSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChecksumMismatchError, RagPlusPlusError, StorageError } from '../../core/errors/errors.ts';
import { assertNoLink, makeFolder, writeFully } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';

/**
 * The bytes of K vectors and the hashes of their texts:
 *
 * | bytes  | content                                            |
 * | ------ | -------------------------------------------------- |
 * | 8      | `RAGPPVE1`                                         |
 * | 4, 4   | K and the dimension D, little-endian               |
 * | 32     | SHA-256 of the encoder's identity                  |
 * | 32, 32 | SHA-256 of the keys, SHA-256 of the vectors        |
 * | 32     | SHA-256 of the bytes before this field             |
 * | 32 K   | keys                                               |
 * | 4 K D  | vectors, float32, row-major [K, D]                 |
 */
const MAGIC = Buffer.from('RAGPPVE1');
export const HASH_BYTES = 32;
const COUNT_AT = MAGIC.byteLength;
const DIMENSION_AT = COUNT_AT + 4;
const IDENTITY_AT = DIMENSION_AT + 4;
const KEYS_HASH_AT = IDENTITY_AT + HASH_BYTES;
const VECTORS_HASH_AT = KEYS_HASH_AT + HASH_BYTES;
const OWN_HASH_AT = VECTORS_HASH_AT + HASH_BYTES;
export const HEADER_BYTES = OWN_HASH_AT + HASH_BYTES;

/** The fields of the header. Hashes are in hex. */
export interface BlockHeader {
  /** K. */
  readonly count: number;
  /** D. */
  readonly dimension: number;
  readonly identity: string;
  readonly keysHash: string;
  readonly vectorsHash: string;
}

function viewAsBuffer(vectors: Float32Array): Buffer {
  return Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength);
}

/**
 * @param identity of the encoder, SHA-256 in hex
 * @param keys [K] SHA-256 in hex
 * @param vectors row-major [K, D]
 */
export function encodeBlock(identity: string, keys: readonly string[], vectors: Float32Array): Buffer {
  const keyBytes = Buffer.from(keys.join(''), 'hex');
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(keys.length, COUNT_AT);
  header.writeUInt32LE(vectors.length / keys.length, DIMENSION_AT);
  header.write(identity, IDENTITY_AT, 'hex');
  header.write(computeHash(keyBytes), KEYS_HASH_AT, 'hex');
  header.write(computeHash(vectors), VECTORS_HASH_AT, 'hex');
  header.write(computeHash(header.subarray(0, OWN_HASH_AT)), OWN_HASH_AT, 'hex');
  return Buffer.concat([header, keyBytes, viewAsBuffer(vectors)]);
}

/** @returns null for bytes that are no header, or one that was altered. */
export function decodeHeader(bytes: Buffer): BlockHeader | null {
  const hashAt = (at: number) => bytes.toString('hex', at, at + HASH_BYTES);
  if (bytes.byteLength !== HEADER_BYTES || !bytes.subarray(0, COUNT_AT).equals(MAGIC)) return null;
  if (computeHash(bytes.subarray(0, OWN_HASH_AT)) !== hashAt(OWN_HASH_AT)) return null;
  return {
    count: bytes.readUInt32LE(COUNT_AT),
    dimension: bytes.readUInt32LE(DIMENSION_AT),
    identity: hashAt(IDENTITY_AT),
    keysHash: hashAt(KEYS_HASH_AT),
    vectorsHash: hashAt(VECTORS_HASH_AT),
  };
}

export function decodeKeys(bytes: Buffer): string[] {
  return Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, row) =>
    bytes.toString('hex', row * HASH_BYTES, (row + 1) * HASH_BYTES),
  );
}

function decodeVectors(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

const SEGMENT = /^([1-9]\d*)\.vectors$/;
const REMEDY = 'delete the file and run again to embed its texts';
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** The location of a block's vectors. */
interface Block {
  readonly path: string;
  /** The offset of the first vector in the file. */
  readonly at: number;
  readonly bytes: number;
  readonly hash: string;
}

interface RowLocation {
  readonly block: Block;
  readonly row: number;
}

interface Writer {
  readonly path: string;
  readonly file: number;
  size: number;
}

/** Vectors and the keys that they belong to, in the same order. */
export interface KeyedVectors {
  /** [K] */
  readonly keys: readonly string[];
  /** Row-major [K, D]. */
  readonly vectors: Float32Array;
}

function createSegmentDamageError(path: string, reason: string): ChecksumMismatchError {
  return new ChecksumMismatchError(path, reason, REMEDY);
}

/** The bytes from `at` on; fewer at the end of the file. */
function readAt(file: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let done = 0;
  while (done < bytes) {
    const read = readSync(file, buffer, done, bytes - done, at + done);
    if (read === 0) break;
    done += read;
  }
  return buffer.subarray(0, done);
}

/** Runs `work` with an open file; null if the file does not exist. */
function withFile<T>(path: string, work: (file: number) => T): T | null {
  try {
    const file = openSync(path, 'r');
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('read', path, { cause: error });
  }
}

/** The numbers of the segments in a folder, ascending. */
function listSegmentNumbers(folder: string): number[] {
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder).flatMap((name) => SEGMENT.exec(name)?.[1] ?? []);
  return found.map(Number).sort((a, b) => a - b);
}

/**
 * Vectors by the hash of their text, in files that only grow. The folder holds the segments `1.vectors`, `2.vectors`, ..., each a sequence of blocks. A process that
 * adds vectors makes a segment of its own, so no two processes write one file. If several segments have the same text, the lowest number counts.
 *
 * Opening reads the headers and the keys; vectors are read and checked by block, on demand. A process that is killed leaves at most one incomplete block,
 * at the end of its segment. Readers ignore that block; every other difference from what was written is an error.
 */
export class VectorSegments {
  readonly #folder: string;
  readonly #identity: string;
  readonly #locations = new Map<string, RowLocation>();
  #dimension: number | null = null;
  #incomplete: string | null = null;
  #writer: Writer | null = null;

  private constructor(folder: string, identity: string) {
    this.#folder = folder;
    this.#identity = identity;
  }

  /**
   * @param folder of the segments; neither it nor the folder above it may be a link
   * @param identity SHA-256 in hex of everything besides the texts that affects the vectors
   * @throws ChecksumMismatchError for a damaged segment, StorageError for a segment that cannot be read and for a link.
   */
  static open(folder: string, identity: string): VectorSegments {
    const segments = new VectorSegments(folder, identity);
    assertNoLink(folder, dirname(dirname(folder)));
    for (const number of listSegmentNumbers(folder)) segments.#index(segments.#joinSegmentPath(number));
    return segments;
  }

  #joinSegmentPath(number: number): string {
    return join(this.#folder, `${number}.vectors`);
  }

  /** D; null while there is no vector. */
  get dimension(): number | null {
    return this.#dimension;
  }

  /** A segment that ended within a block when it was opened: its process was stopped, or was writing. */
  get incomplete(): string | null {
    return this.#incomplete;
  }

  /** Reads the headers and the keys of a segment. */
  #index(path: string): void {
    assertNoLink(path);
    withFile(path, (file) => {
      const { size } = fstatSync(file);
      for (let at = 0; at < size; ) {
        const end = this.#indexBlock(file, path, at, size);
        if (end === null) this.#incomplete = path;
        at = end ?? size;
      }
    });
  }

  /** @returns the end of the block, null if the file ends before that. */
  #indexBlock(file: number, path: string, start: number, size: number): number | null {
    const keysAt = start + HEADER_BYTES;
    if (keysAt > size) return null;
    const header = decodeHeader(readAt(file, start, HEADER_BYTES));
    if (header === null) throw createSegmentDamageError(path, `the checksum of the block at byte ${start} differs`);
    const at = keysAt + header.count * HASH_BYTES;
    const bytes = header.count * header.dimension * FLOAT_BYTES;
    if (at + bytes > size) return null;
    this.#assertOurs(header, path);
    const keys = readAt(file, keysAt, header.count * HASH_BYTES);
    if (computeHash(keys) !== header.keysHash)
      throw createSegmentDamageError(path, `the checksum of the ${header.count} keys at byte ${keysAt} differs`);
    this.#noteBlock(decodeKeys(keys), { path, at, bytes, hash: header.vectorsHash });
    return at + bytes;
  }

  #assertOurs({ identity, dimension }: BlockHeader, path: string): void {
    if (identity !== this.#identity) throw createSegmentDamageError(path, 'it holds vectors of another encoder');
    this.#dimension ??= dimension;
    if (dimension !== this.#dimension)
      throw createSegmentDamageError(
        path,
        `it holds vectors of dimension ${dimension} beside others of ${this.#dimension}`,
      );
  }

  #noteBlock(keys: readonly string[], block: Block): void {
    for (const [row, key] of keys.entries()) if (!this.#locations.has(key)) this.#locations.set(key, { block, row });
  }

  /**
   * The vectors of keys, a block at a time. Omits missing keys, also of segments that another process deletes.
   *
   * @throws ChecksumMismatchError for damaged vectors.
   */
  *read(keys: Iterable<string>): Generator<KeyedVectors> {
    const wanted = new Map<Block, { key: string; row: number }[]>();
    for (const key of keys) {
      const location = this.#locations.get(key);
      if (location === undefined) continue;
      const rows = getOrCompute(wanted, location.block, () => []);
      rows.push({ key, row: location.row });
    }
    for (const [block, rows] of wanted) {
      const all = withFile(block.path, (file) => readBlockVectors(file, block));
      if (all === null) for (const { key } of rows) this.#locations.delete(key);
      else yield { keys: rows.map(({ key }) => key), vectors: this.#gatherStoredRows(all, rows) };
    }
  }

  #gatherStoredRows(all: Float32Array, rows: readonly { row: number }[]): Float32Array {
    const width = this.#dimension as number;
    const vectors = new Float32Array(rows.length * width);
    for (const [i, { row }] of rows.entries()) vectors.set(all.subarray(row * width, (row + 1) * width), i * width);
    return vectors;
  }

  /**
   * Adds a block to the segment of this process, which the first block makes.
   *
   * @throws StorageError if the block cannot be written as a whole.
   */
  append({ keys, vectors }: KeyedVectors): void {
    this.#writer ??= this.#openSegment();
    const { path, size } = this.#writer;
    const block = encodeBlock(this.#identity, keys, vectors);
    this.#write(this.#writer, block);
    this.#dimension ??= vectors.length / keys.length;
    const at = size + block.byteLength - vectors.byteLength;
    this.#noteBlock(keys, { path, at, bytes: vectors.byteLength, hash: computeHash(vectors) });
  }

  /** A partly written block is the last of its segment: the next block begins another segment. */
  #write(writer: Writer, bytes: Buffer): void {
    try {
      writeFully(writer.file, bytes);
      fsyncSync(writer.file);
      writer.size += bytes.byteLength;
    } catch (error) {
      this.close();
      throw new StorageError('write', writer.path, { cause: error });
    }
  }

  #openSegment(): Writer {
    makeFolder(this.#folder);
    for (let number = (listSegmentNumbers(this.#folder).at(-1) ?? 0) + 1; ; number++) {
      const path = this.#joinSegmentPath(number);
      try {
        return { path, file: openSync(path, 'wx'), size: 0 };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new StorageError('write', path, { cause: error });
      }
    }
  }

  /** Ends writing; a block that is added later begins another segment. */
  close(): void {
    if (this.#writer !== null) closeSync(this.#writer.file);
    this.#writer = null;
  }
}

/** The vectors of a whole block. */
function readBlockVectors(file: number, { path, at, bytes, hash }: Block): Float32Array {
  const vectors = decodeVectors(readAt(file, at, bytes));
  if (computeHash(vectors) !== hash)
    throw createSegmentDamageError(path, `the checksum of the vectors at byte ${at} differs`);
  return vectors;
}
