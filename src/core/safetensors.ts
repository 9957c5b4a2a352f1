import { readFileSync } from 'node:fs';
import { ChecksumMismatchError, StorageError } from './errors.ts';
import { writeAtomic } from './files.ts';
import { hashOf } from './hash.ts';

/** Float32 arrays by name, in the safetensors format: 8 bytes of header length, a JSON header, then the data. */
export interface TensorFile {
  readonly tensors: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: Float32Array }>>;
  readonly metadata: Readonly<Record<string, string>>;
}

const CHECKSUM = 'sha256';

/** Writes atomically; the metadata gains the checksum of the data. */
export function writeSafetensors(path: string, file: TensorFile): void {
  const entries = Object.entries(file.tensors);
  const body = Buffer.concat(entries.map(([, { data }]) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)));
  const header: Record<string, unknown> = { __metadata__: { ...file.metadata, [CHECKSUM]: hashOf(body) } };
  let offset = 0;
  for (const [name, { shape, data }] of entries) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.byteLength % 8)) % 8, ' ')]); // the format aligns the data to 8 bytes
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.byteLength));
  writeAtomic(path, Buffer.concat([length, padded, body]));
}

interface Entry {
  readonly dtype: string;
  readonly shape: number[];
  readonly data_offsets: [number, number];
}

function parseHeader(
  path: string,
  bytes: Buffer,
  remedy: string,
): { header: Record<string, Entry>; metadata: Record<string, string>; body: Buffer } {
  if (bytes.byteLength < 8)
    throw new ChecksumMismatchError(path, `${bytes.byteLength} bytes are too few for a header`, remedy);
  const length = Number(bytes.readBigUInt64LE());
  if (8 + length > bytes.byteLength)
    throw new ChecksumMismatchError(path, `header of ${length} bytes in a file of ${bytes.byteLength}`, remedy);
  try {
    const { __metadata__: metadata = {}, ...header } = JSON.parse(bytes.subarray(8, 8 + length).toString('utf8'));
    return { header, metadata, body: bytes.subarray(8 + length) };
  } catch {
    throw new ChecksumMismatchError(path, 'its header is not JSON', remedy);
  }
}

/**
 * @param remedy what the reader of the error can do, for example `delete it to have it computed again`.
 * @throws ChecksumMismatchError when the file is truncated or altered.
 */
export function readSafetensors(path: string, remedy: string): TensorFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
  const { header, metadata, body } = parseHeader(path, bytes, remedy);
  const tensors: Record<string, { shape: number[]; data: Float32Array }> = {};
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [start, end],
    },
  ] of Object.entries(header)) {
    const expected = shape.reduce((product, size) => product * size, 4);
    if (dtype !== 'F32' || end - start !== expected || end > body.byteLength) {
      throw new ChecksumMismatchError(
        path,
        `tensor ${name} needs bytes ${start} to ${end} of ${body.byteLength}`,
        remedy,
      );
    }
    tensors[name] = { shape, data: new Float32Array(new Uint8Array(body.subarray(start, end)).buffer) };
  }
  if (metadata[CHECKSUM] !== undefined && metadata[CHECKSUM] !== hashOf(body))
    throw new ChecksumMismatchError(path, 'its checksum differs', remedy);
  return { tensors, metadata };
}
