import { readFileSync } from 'node:fs';
import { ChecksumMismatchError, StorageError, ValidationError } from '../errors/errors.ts';
import { computeHash, viewAsBytes } from '../hash/hash.ts';
import { decodeBrainFloats, decodeHalfFloats, encodeHalfFloats } from '../numbers/half-floats.ts';
import { writeAtomic } from './files.ts';

/** Array types of the format's types. F16 and BF16 are read as float32, F16 is written, and other types are errors. */
const DTYPES = { F64: Float64Array, F32: Float32Array, I32: Int32Array, U8: Uint8Array } as const;
type Dtype = keyof typeof DTYPES;
/** Bytes of a number of each type that can be read. */
const NUMBER_BYTES = { F64: 8, F32: 4, I32: 4, U8: 1, F16: 2, BF16: 2 } as const;
/** The numbers of a tensor in a safetensors file, row-major; the type of the array is that of the file. */
export type TensorData = Float64Array | Float32Array | Int32Array | Uint8Array;

type Metadata = Readonly<Record<string, string>>;

/** Arrays by name, in the safetensors format: 8 bytes of header length, a JSON header, then the data. */
export interface TensorFile {
  readonly tensors: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: TensorData }>>;
  readonly metadata: Metadata;
}

const CHECKSUM = 'sha256';
const HEADER_CHECKSUM = 'headerSha256';

function findDtype(data: TensorData | Uint16Array): Dtype | 'F16' {
  if (data instanceof Uint16Array) return 'F16';
  return (Object.keys(DTYPES) as Dtype[]).find((dtype) => data instanceof DTYPES[dtype]) as Dtype;
}

const roundToHalf = (data: TensorData) => (data instanceof Float32Array ? encodeHalfFloats(data) : data);

/** The storage of numbers. */
export interface TensorStorage {
  /** True if float32 arrays are rounded to F16, half the bytes; false by default. */
  readonly half?: boolean;
  /** See {@link writeAtomic}; true by default. */
  readonly isSynced?: boolean;
}

/** A tensor in the header of a file; the data of all are in this order. */
interface TensorPlace {
  readonly name: string;
  readonly dtype: Dtype | 'F16';
  readonly shape: readonly number[];
  readonly bytes: number;
}

/**
 * The bytes of a file before its data; the metadata gains the checksums of the data and of the header.
 *
 * @param dataHash SHA-256 of the data.
 */
export function encodeHeader(places: readonly TensorPlace[], dataHash: string, given: Metadata = {}): Uint8Array {
  const metadata: Record<string, string> = { ...given, [CHECKSUM]: dataHash };
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, dtype, shape, bytes } of places) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  metadata[HEADER_CHECKSUM] = computeHash(header);
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.byteLength % 8)) % 8, ' ')]); // the format aligns the data to 8 bytes
  return Buffer.concat([viewAsBytes(BigUint64Array.of(BigInt(padded.byteLength))), padded]);
}

/** The bytes of a file; the metadata gains the checksums of the data and of the header. */
export function encodeSafetensors({ tensors, metadata }: TensorFile, { half = false }: TensorStorage = {}): Uint8Array {
  // The largest numbers first, so that every array begins at a multiple of its numbers' size.
  const entries = Object.entries(tensors)
    .map(([name, { shape, data: given }]) => {
      const data = half ? roundToHalf(given) : given;
      return { name, shape, data, dtype: findDtype(data), bytes: data.byteLength };
    })
    .sort((a, b) => b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT);
  const parts = entries.map(({ data }) => viewAsBytes(data));
  const body = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  return Buffer.concat([encodeHeader(entries, computeHash(body), metadata), body]);
}

/** Writes {@link encodeSafetensors} atomically. */
export const writeSafetensors = (path: string, file: TensorFile, storage: TensorStorage = {}): void =>
  writeAtomic(path, encodeSafetensors(file, storage), null, storage.isSynced);

interface Entry {
  readonly dtype: string;
  readonly shape: number[];
  readonly data_offsets: [number, number];
}

interface Parts {
  readonly header: Readonly<Record<string, Entry>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param isOurs whether a file without checksums is an error. */
function parseParts(bytes: Buffer, isOurs: boolean, damaged: (reason: string) => Error): Parts {
  if (bytes.byteLength < 8) throw damaged(`${bytes.byteLength} bytes are too few for a header`);
  const length = Number(bytes.readBigUInt64LE());
  if (8 + length > bytes.byteLength) throw damaged(`header of ${length} bytes in a file of ${bytes.byteLength}`);
  let json: unknown;
  try {
    json = JSON.parse(bytes.subarray(8, 8 + length).toString('utf8'));
  } catch {
    throw damaged('its header is not JSON');
  }
  if (!isObject(json)) throw damaged('its header is not an object');
  const { __metadata__: metadata = {}, ...header } = json;
  if (!isObject(metadata) || !Object.values(metadata).every((value) => typeof value === 'string'))
    throw damaged('its metadata are not texts by name');
  const { [HEADER_CHECKSUM]: expected, ...others } = metadata as Record<string, string>;
  if (expected === undefined && isOurs) throw damaged('it has no checksum of its header');
  if (expected !== undefined && expected !== computeHash({ __metadata__: others, ...header }))
    throw damaged('the checksum of its header differs');
  return { header: header as Parts['header'], metadata: others, body: bytes.subarray(8 + length) };
}

function areSizes(values: unknown): values is number[] {
  return Array.isArray(values) && values.every((value) => Number.isSafeInteger(value) && value >= 0);
}

/** A copy, since the place in the file need not be a multiple of the numbers' size. */
function decodeEntry({ dtype, data_offsets: [start, end] }: Entry, body: Buffer): TensorData {
  const { buffer } = new Uint8Array(body.subarray(start, end));
  if (dtype === 'F16') return decodeHalfFloats(new Uint16Array(buffer));
  if (dtype === 'BF16') return decodeBrainFloats(new Uint16Array(buffer));
  return new DTYPES[dtype as Dtype](buffer);
}

/**
 * Reads a safetensors file, written by this project or another; verifies the checksums that the file contains.
 *
 * @param remedy the end of the error message, for example `delete the file to compute it again`.
 * @throws ChecksumMismatchError when the file is truncated or altered, StorageError when it cannot be read, ValidationError for another type of
 * numbers.
 */
export function readSafetensors(path: string, remedy: string): TensorFile {
  return readTensors(path, remedy, false);
}

/** {@link readSafetensors} of a file by {@link writeSafetensors}: missing checksums are an error. */
export function readCheckedSafetensors(path: string, remedy: string): TensorFile {
  return readTensors(path, remedy, true);
}

function readTensors(path: string, remedy: string, isOurs: boolean): TensorFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
  const createDamageError = (reason: string) => new ChecksumMismatchError(path, reason, remedy);
  const parts = parseParts(bytes, isOurs, createDamageError);
  const tensors: Record<string, { shape: number[]; data: TensorData }> = {};
  for (const [name, entry] of Object.entries(parts.header)) {
    if (!areSizes(entry?.shape) || !areSizes(entry.data_offsets) || entry.data_offsets.length !== 2)
      throw createDamageError(`tensor ${name} has no place`);
    const [start, end] = entry.data_offsets;
    if (!Object.hasOwn(NUMBER_BYTES, entry.dtype))
      throw new ValidationError(
        `tensor ${name} of ${path} has the type ${entry.dtype}, which cannot be read; save it as F32, F64, F16 or BF16`,
        { path, tensor: name },
      );
    const expected = entry.shape.reduce(
      (product, size) => product * size,
      NUMBER_BYTES[entry.dtype as keyof typeof NUMBER_BYTES],
    );
    if (end - start !== expected || end > parts.body.byteLength)
      throw createDamageError(`tensor ${name} needs bytes ${start} to ${end} of ${parts.body.byteLength}`);
    tensors[name] = { shape: entry.shape, data: decodeEntry(entry, parts.body) };
  }
  const { [CHECKSUM]: expected } = parts.metadata;
  if (expected === undefined && isOurs) throw createDamageError('it has no checksum of its data');
  if (expected !== undefined && expected !== computeHash(parts.body)) throw createDamageError('its checksum differs');
  return { tensors, metadata: parts.metadata };
}
