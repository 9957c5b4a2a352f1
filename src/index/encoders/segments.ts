import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readdirSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChecksumMismatchError, RagPlusPlusError, StorageError } from '../../core/errors/errors.ts';
import { assertNoLink, makeFolder, writeFully } from '../../core/files/files.ts';
import { computeHash, viewAsBytes } from '../../core/hash/hash.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { getOrCompute } from '../../core/values/once.ts';

/** The key of a text. @param isQuery true for an encoder whose vectors of queries are others than those of turns. */
export function computeTextKey(text: string, isQuery = false): string {
  return computeHash(isQuery ? ['query', text] : text);
}

/**
 * The bytes of a block: what K texts have, by the hashes of the texts.
 *
 * | bytes  | content                                            |
 * | ------ | -------------------------------------------------- |
 * | 8      | the magic of the form                              |
 * | 4, 4   | K and the dimension D, little-endian               |
 * | 32     | SHA-256 of the encoder's identity                  |
 * | 32, 32 | SHA-256 of the keys, SHA-256 of the values         |
 * | 32     | SHA-256 of the bytes before this field             |
 * | 32 K   | keys                                               |
 * | rest   | values, as the form has them                       |
 */
const MAGIC_BYTES = 8;
export const HASH_BYTES = 32;
const COUNT_AT = MAGIC_BYTES;
const DIMENSION_AT = COUNT_AT + 4;
const IDENTITY_AT = DIMENSION_AT + 4;
const KEYS_HASH_AT = IDENTITY_AT + HASH_BYTES;
const VALUES_HASH_AT = KEYS_HASH_AT + HASH_BYTES;
const OWN_HASH_AT = VALUES_HASH_AT + HASH_BYTES;
export const HEADER_BYTES = OWN_HASH_AT + HASH_BYTES;

/** The fields of the header. Hashes are in hex. */
export interface BlockHeader {
  /** K. */
  readonly count: number;
  /** D. */
  readonly dimension: number;
  readonly identity: string;
  readonly keysHash: string;
  readonly valuesHash: string;
}

/** The form of a block's values in a file. */
export interface BlockForm {
  /** Eight letters at the start of each block. */
  readonly magic: string;
  /** The suffix of files. */
  readonly suffix: string;
  /**
   * The bytes of the values.
   *
   * @returns null where the file ends before that is known.
   */
  readonly measure: (header: BlockHeader, read: ReadValues) => number | null;
  /** [K] for each row the hashes of the texts that it was computed from. */
  readonly listTexts: (found: Pick<FoundBlock, 'header' | 'keys'>, read: ReadValues) => readonly (readonly string[])[];
  /** The values of some rows of a block, as values of a block. */
  readonly keep: (header: BlockHeader, values: Uint8Array, rows: readonly number[]) => Uint8Array;
}

/** Reads the first bytes of the values of a block; fewer at the end of the file. */
type ReadValues = (bytes: number) => Buffer;

/** Rows of D numbers, float32. */
export const VECTORS: BlockForm = {
  magic: 'RAGPPVE1',
  suffix: 'vectors',
  measure: ({ count, dimension }) => count * dimension * Float32Array.BYTES_PER_ELEMENT,
  listTexts: ({ keys }) => keys.map((key) => [key]),
  keep: ({ dimension }, values, rows) => viewAsBytes(gatherRows(new Float32Array(values.buffer), dimension, rows)),
};

/**
 * @param identity of the encoder, SHA-256 in hex
 * @param keys [K] SHA-256 in hex
 */
export function encodeBlock(
  { magic }: BlockForm,
  identity: string,
  keys: readonly string[],
  dimension: number,
  values: Uint8Array,
): Buffer {
  const keyBytes = Buffer.from(keys.join(''), 'hex');
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(magic, 0, 'latin1');
  header.writeUInt32LE(keys.length, COUNT_AT);
  header.writeUInt32LE(dimension, DIMENSION_AT);
  header.write(identity, IDENTITY_AT, 'hex');
  header.write(computeHash(keyBytes), KEYS_HASH_AT, 'hex');
  header.write(computeHash(values), VALUES_HASH_AT, 'hex');
  header.write(computeHash(header.subarray(0, OWN_HASH_AT)), OWN_HASH_AT, 'hex');
  return Buffer.concat([header, keyBytes, values]);
}

/** @returns null for bytes that are no header, or one that was altered. */
export function decodeHeader({ magic }: BlockForm, bytes: Buffer): BlockHeader | null {
  const hashAt = (at: number) => bytes.toString('hex', at, at + HASH_BYTES);
  if (bytes.byteLength !== HEADER_BYTES || bytes.toString('latin1', 0, MAGIC_BYTES) !== magic) return null;
  if (computeHash(bytes.subarray(0, OWN_HASH_AT)) !== hashAt(OWN_HASH_AT)) return null;
  return {
    count: bytes.readUInt32LE(COUNT_AT),
    dimension: bytes.readUInt32LE(DIMENSION_AT),
    identity: hashAt(IDENTITY_AT),
    keysHash: hashAt(KEYS_HASH_AT),
    valuesHash: hashAt(VALUES_HASH_AT),
  };
}

export function decodeKeys(bytes: Buffer): string[] {
  return Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, row) =>
    bytes.toString('hex', row * HASH_BYTES, (row + 1) * HASH_BYTES),
  );
}

const REMEDY = 'delete the file and run again to embed its texts';

/** The location of a block's values. */
interface Block {
  readonly path: string;
  /** The number of the file in its file system: a segment that loses values is another file. */
  readonly inode: number;
  /** K. */
  readonly count: number;
  /** The offset of the first value in the file. */
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
  readonly inode: number;
  readonly file: number;
  size: number;
}

/** The values of some keys, which are in some rows of a block. */
export interface BlockRows {
  readonly keys: readonly string[];
  /** The row of each key. */
  readonly rows: readonly number[];
  /** K, the rows of the whole block. */
  readonly count: number;
  /** The bytes of the whole block; aligned, and the reader's own. */
  readonly values: Uint8Array;
}

function createSegmentDamageError(path: string, reason: string): ChecksumMismatchError {
  return new ChecksumMismatchError(path, reason, REMEDY);
}

/** The bytes from `at` on; fewer at the end of the file. */
export function readAt(file: number, at: number, bytes: number): Buffer {
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
export function withFile<T>(path: string, work: (file: number) => T): T | null {
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
function listSegmentNumbers(folder: string, suffix: string): number[] {
  if (!existsSync(folder)) return [];
  const segment = new RegExp(`^([1-9]\\d*)\\.${suffix}$`);
  const found = readdirSync(folder).flatMap((name) => segment.exec(name)?.[1] ?? []);
  return found.map(Number).sort((a, b) => a - b);
}

/** The paths of the segments in a folder, in the order of their numbers. */
export function listSegmentPaths(folder: string, { suffix }: BlockForm): string[] {
  return listSegmentNumbers(folder, suffix).map((number) => join(folder, `${number}.${suffix}`));
}

/** A block of a segment, whose values are not read yet. */
export interface FoundBlock {
  readonly header: BlockHeader;
  /** [K] */
  readonly keys: readonly string[];
  readonly block: Block;
}

/**
 * Reads the headers and the keys of a segment; null in the place of a block at its end that is incomplete.
 *
 * @throws ChecksumMismatchError for a header or keys that differ from what was written.
 */
export function* readBlocks(form: BlockForm, file: number, path: string): Generator<FoundBlock | null> {
  const { size, ino: inode } = fstatSync(file);
  for (let start = 0; start < size; ) {
    const keysAt = start + HEADER_BYTES;
    if (keysAt > size) return yield null;
    const header = decodeHeader(form, readAt(file, start, HEADER_BYTES));
    if (header === null) throw createSegmentDamageError(path, `the checksum of the block at byte ${start} differs`);
    const { count, valuesHash: hash } = header;
    const at = keysAt + count * HASH_BYTES;
    const bytes = form.measure(header, (wanted) => readAt(file, at, wanted));
    if (bytes === null || at + bytes > size) return yield null;
    const keys = readAt(file, keysAt, count * HASH_BYTES);
    if (computeHash(keys) !== header.keysHash)
      throw createSegmentDamageError(path, `the checksum of the ${count} keys at byte ${keysAt} differs`);
    yield { header, keys: decodeKeys(keys), block: { path, inode, count, at, bytes, hash } };
    start = at + bytes;
  }
}

/** @throws ChecksumMismatchError for values that differ from what was written. */
export function readValues({ suffix }: BlockForm, file: number, { path, at, bytes, hash }: Block): Uint8Array {
  const values = new Uint8Array(readAt(file, at, bytes));
  if (computeHash(values) !== hash)
    throw createSegmentDamageError(path, `the checksum of the ${suffix} at byte ${at} differs`);
  return values;
}

/**
 * The values that an encoder gives texts, by the hash of the text, in files that only grow. The folder holds the
 * segments `1.vectors`, `2.vectors`, ..., each a sequence of blocks. A process that adds values makes a segment of
 * its own, so no two processes write one file. If several segments have the same text, the lowest number counts.
 *
 * Opening reads the headers and the keys; values are read and checked by block, on demand. A process that is killed
 * leaves at most one incomplete block, at the end of its segment. Readers ignore that block; every other difference
 * from what was written is an error.
 */
export class Segments {
  readonly #form: BlockForm;
  readonly #folder: string;
  readonly #identity: string;
  readonly #locations = new Map<string, RowLocation>();
  #dimension: number | null = null;
  #incomplete: string | null = null;
  #writer: Writer | null = null;

  private constructor(form: BlockForm, folder: string, identity: string) {
    this.#form = form;
    this.#folder = folder;
    this.#identity = identity;
  }

  /**
   * @param folder of the segments; neither it nor the folder above it may be a link
   * @param identity SHA-256 in hex of everything besides the texts that affects the values
   * @throws ChecksumMismatchError for a damaged segment, StorageError for a segment that cannot be read and for a link.
   */
  static open(form: BlockForm, folder: string, identity: string): Segments {
    const segments = new Segments(form, folder, identity);
    assertNoLink(folder, dirname(dirname(folder)));
    for (const path of listSegmentPaths(folder, form)) segments.#index(path);
    return segments;
  }

  /** D; null while there is no value. */
  get dimension(): number | null {
    return this.#dimension;
  }

  /** A segment that ended within a block when it was opened: its process was stopped, or was writing. */
  get incomplete(): string | null {
    return this.#incomplete;
  }

  has(key: string): boolean {
    return this.#locations.has(key);
  }

  #index(path: string): void {
    assertNoLink(path);
    withFile(path, (file) => {
      for (const found of readBlocks(this.#form, file, path))
        if (found === null) this.#incomplete = path;
        else {
          this.#assertOurs(found.header, path);
          this.#noteBlock(found.keys, found.block);
        }
    });
  }

  #assertOurs({ identity, dimension }: BlockHeader, path: string): void {
    const { suffix } = this.#form;
    if (identity !== this.#identity) throw createSegmentDamageError(path, `it holds ${suffix} of another encoder`);
    this.#dimension ??= dimension;
    if (dimension !== this.#dimension)
      throw createSegmentDamageError(
        path,
        `it holds ${suffix} of dimension ${dimension} beside others of ${this.#dimension}`,
      );
  }

  #noteBlock(keys: readonly string[], block: Block): void {
    for (const [row, key] of keys.entries()) if (!this.#locations.has(key)) this.#locations.set(key, { block, row });
  }

  /**
   * The values of keys, a block at a time. Omits missing keys, also of segments that another process deletes or
   * replaces.
   *
   * @throws ChecksumMismatchError for damaged values.
   */
  *read(keys: Iterable<string>): Generator<BlockRows> {
    const wanted = new Map<Block, { readonly keys: string[]; readonly rows: number[] }>();
    for (const key of keys) {
      const location = this.#locations.get(key);
      if (location === undefined) continue;
      const found = getOrCompute(wanted, location.block, () => ({ keys: [], rows: [] }));
      found.keys.push(key);
      found.rows.push(location.row);
    }
    for (const [block, found] of wanted) {
      const values = withFile(block.path, (file) =>
        fstatSync(file).ino === block.inode ? readValues(this.#form, file, block) : null,
      );
      if (values === null) for (const key of found.keys) this.#locations.delete(key);
      else yield { ...found, count: block.count, values };
    }
  }

  /**
   * Adds a block to the segment of this process, which the first block makes.
   *
   * @throws StorageError if the block cannot be written as a whole.
   */
  append(keys: readonly string[], dimension: number, values: Uint8Array): void {
    this.#writer ??= this.#openSegment();
    const { path, inode, size } = this.#writer;
    const block = encodeBlock(this.#form, this.#identity, keys, dimension, values);
    this.#write(this.#writer, block);
    this.#dimension ??= dimension;
    const at = size + block.byteLength - values.byteLength;
    this.#noteBlock(keys, { path, inode, count: keys.length, at, bytes: values.byteLength, hash: computeHash(values) });
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
    const last = listSegmentNumbers(this.#folder, this.#form.suffix).at(-1) ?? 0;
    for (let number = last + 1; ; number++) {
      const path = join(this.#folder, `${number}.${this.#form.suffix}`);
      try {
        const file = openSync(path, 'wx');
        return { path, inode: fstatSync(file).ino, file, size: 0 };
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
