import { ValidationError } from '../../core/errors/errors.ts';
import { joinViews } from '../../core/journal/frame.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';

/** A record without its vector: what is stored as JSON. */
export type RecordHead = Omit<MemoryRecord, 'embedding'>;

/** A version of a record in a history: its id, and the change that made it. */
export type VersionName = readonly [id: string, from: number];

/** A change without its time. */
type Change =
  | { readonly kind: 'put'; readonly records: readonly MemoryRecord[] }
  | { readonly kind: 'remove'; readonly ids: readonly string[] }
  /** Removes records, earlier versions, and the ids of the records from the records that name them. */
  | { readonly kind: 'forget'; readonly ids: readonly string[]; readonly versions?: readonly VersionName[] }
  | { readonly kind: 'observe'; readonly id: string; readonly outcome: number };

/**
 * A change of a store; each is one entry of its journal, so it is there as a whole or not at all. A store that keeps
 * its history notes when it was made, in milliseconds since 1970.
 */
export type Operation = Change & { readonly at?: number };

const LENGTH_BYTES = 4;

/** Numbers of an array whose views are vectors of records: a record that stays keeps the whole array, here 256 KiB. */
export const SHARED_NUMBERS = 2 ** 16;

/** A record without its vector. */
export const splitHead = ({ embedding: _, ...head }: MemoryRecord): RecordHead => head;

/** A record as a line of JSON without its vector. */
export function encodeHead(record: MemoryRecord): string {
  return JSON.stringify(splitHead(record));
}

/** Vectors of records one after the other. */
export function joinVectors(records: readonly MemoryRecord[]): Float32Array {
  const dimension = records[0]?.embedding.length ?? 0;
  const vectors = new Float32Array(records.length * dimension);
  for (const [i, { embedding }] of records.entries()) vectors.set(embedding, i * dimension);
  return vectors;
}

/**
 * The bytes of an operation, in parts: [length u32][JSON], then the vectors as float32. All are little endian. Vectors
 * may be views of those of the records.
 */
export function encodeOperation(operation: Operation): Uint8Array[] {
  const records = operation.kind === 'put' ? operation.records : [];
  const head = operation.kind === 'put' ? { ...operation, records: records.map(splitHead) } : operation;
  const json = JSON.stringify(head);
  const jsonBytes = Buffer.byteLength(json);
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + jsonBytes);
  bytes.writeUInt32LE(jsonBytes);
  bytes.write(json, LENGTH_BYTES);
  return joinViews([bytes, ...records.map(({ embedding }) => embedding)]);
}

/** Joins records and their vectors [R, D]; each vector is a view. */
export function joinRecords(heads: readonly RecordHead[], vectors: Float32Array): MemoryRecord[] {
  const dimension = heads.length === 0 ? 0 : vectors.length / heads.length;
  return heads.map((head, row) => ({ ...head, embedding: viewRow(vectors, dimension, row) }));
}

/** Joins records and the bytes of their vectors, which are copied: their place need not be a multiple of 4. */
function copyRecords(heads: readonly RecordHead[], bytes: Uint8Array): MemoryRecord[] {
  const rowBytes = bytes.byteLength / heads.length;
  const count = Math.max(1, Math.floor((SHARED_NUMBERS * Float32Array.BYTES_PER_ELEMENT) / rowBytes));
  const records: MemoryRecord[] = [];
  for (let row = 0; row < heads.length; row += count) {
    const part = bytes.subarray(row * rowBytes, (row + count) * rowBytes);
    records.push(...joinRecords(heads.slice(row, row + count), new Float32Array(new Uint8Array(part).buffer)));
  }
  return records;
}

/** The operation that {@link encodeOperation} wrote. @throws ValidationError for other bytes. */
export function decodeOperation(payload: Uint8Array, sequence: number): Operation {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  try {
    const end = LENGTH_BYTES + bytes.readUInt32LE();
    const head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end)) as
      | Exclude<Operation, { kind: 'put' }>
      | { kind: 'put'; records: RecordHead[]; at?: number };
    if (head.kind !== 'put') return head;
    return { ...head, records: copyRecords(head.records, bytes.subarray(end)) };
  } catch (error) {
    throw new ValidationError(
      `entry ${sequence} of the journal is no operation of a memory store; open the folder with the program that wrote it`,
      { sequence },
      { cause: error },
    );
  }
}
