import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { RagPlusPlusError, StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { decodeHalfFloats } from '../../../core/numbers/half-floats.ts';

/** The vectors of a file, as they are written. */
export interface VectorMatrix {
  readonly rows: number;
  /** D. */
  readonly dimension: number;
  /** Row-major [rows, D]. */
  readonly values: Float32Array;
}

/** @throws ValidationError for a shape other than [rows, dimension], both at least 1. */
export function assertMatrix(file: string, shape: readonly number[]): readonly [number, number] {
  const [rows, dimension] = shape;
  if (shape.length !== 2 || !rows || !dimension)
    throw new ValidationError(
      `${file} has an array of shape [${shape.join(', ')}], expected [vectors, dimension]; save a matrix with one vector in each row`,
      { file, shape },
    );
  return [rows, dimension];
}

const MAGIC = '\x93NUMPY';
/** The magic string and the version. */
const PREFIX_BYTES = 8;
/** Of the length of the header: 2 in version 1, 4 in versions 2 and 3. */
const LENGTH_BYTES = [2, 4, 4] as const;
const LARGEST_HEADER = 2 ** 20;
/** Read at once; a multiple of the size of every number. */
const CHUNK_BYTES = 2 ** 24;

const DTYPES: Readonly<Record<string, { readonly bytes: number; decode(bytes: ArrayBuffer): ArrayLike<number> }>> = {
  '<f4': { bytes: 4, decode: (bytes) => new Float32Array(bytes) },
  '<f8': { bytes: 8, decode: (bytes) => new Float64Array(bytes) },
  '<f2': { bytes: 2, decode: (bytes) => decodeHalfFloats(new Uint16Array(bytes)) },
};

/**
 * Reads a matrix of NumPy's format npy, versions 1 to 3, of little-endian float32, float64 or float16 in C order. The
 * file is read in parts, so its size is limited by memory alone. The time is linear in the size.
 *
 * numpy.lib.format.
 *
 * @throws ValidationError for another type, order or shape, and for a file that is cut short; StorageError when the
 * file cannot be read.
 */
export function readNpy(path: string): VectorMatrix {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    return readMatrix(path, file, fstatSync(file).size);
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('read', path, { cause: error });
  } finally {
    if (file !== null) closeSync(file);
  }
}

function createFormatError(path: string, what: string, remedy: string): ValidationError {
  return new ValidationError(`${path} ${what}; ${remedy}`, { path });
}

function readBytesAt(file: number, at: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  for (let done = 0; done < count; ) {
    const read = readSync(file, bytes, done, count - done, at + done);
    if (read === 0) throw new Error(`the file ends at byte ${at + done}`);
    done += read;
  }
  return bytes;
}

function readMatrix(path: string, file: number, size: number): VectorMatrix {
  const { text, end } = readHeader(path, file, size);
  const dtype = findDtype(path, text);
  if (/'fortran_order':\s*False/.exec(text) === null)
    throw createFormatError(path, 'is in Fortran order', 'save numpy.ascontiguousarray(vectors)');
  const shape = /'shape':\s*\(([\d,\s]*)\)/.exec(text)?.[1];
  if (shape === undefined)
    throw createFormatError(path, `has a header without a shape: ${text.trim()}`, 'save it with numpy.save');
  const sizes = shape.split(',').filter((part) => part.trim() !== '');
  const [rows, dimension] = assertMatrix(path, sizes.map(Number));
  const expected = end + rows * dimension * dtype.bytes;
  if (size !== expected)
    throw createFormatError(path, `has ${size} bytes, expected ${expected} for its shape`, 'save it again');
  const values = new Float32Array(rows * dimension);
  for (let at = end, done = 0; at < size; at += CHUNK_BYTES) {
    const numbers = dtype.decode(readBytesAt(file, at, Math.min(CHUNK_BYTES, size - at)).buffer as ArrayBuffer);
    values.set(numbers, done);
    done += numbers.length;
  }
  return { rows, dimension, values };
}

function readHeader(path: string, file: number, size: number): { readonly text: string; readonly end: number } {
  const createHeaderError = () => createFormatError(path, 'is not an npy file', 'save it with numpy.save');
  if (size < PREFIX_BYTES + 4) throw createHeaderError();
  const prefix = Buffer.from(readBytesAt(file, 0, PREFIX_BYTES + 4).buffer);
  const version = prefix.readUInt8(MAGIC.length);
  const lengthBytes = LENGTH_BYTES[version - 1];
  if (prefix.toString('latin1', 0, MAGIC.length) !== MAGIC || lengthBytes === undefined) throw createHeaderError();
  const length = prefix.readUIntLE(PREFIX_BYTES, lengthBytes);
  const start = PREFIX_BYTES + lengthBytes;
  if (length > LARGEST_HEADER || start + length > size) throw createHeaderError();
  return { text: Buffer.from(readBytesAt(file, start, length)).toString('latin1'), end: start + length };
}

function findDtype(path: string, header: string): (typeof DTYPES)[string] {
  const name = /'descr':\s*'([^']*)'/.exec(header)?.[1] ?? 'of several fields';
  if (Object.hasOwn(DTYPES, name)) return DTYPES[name] as (typeof DTYPES)[string];
  throw createFormatError(
    path,
    `has numbers of type ${name}, expected ${Object.keys(DTYPES).join(', ')}`,
    "save vectors.astype('<f4')",
  );
}
