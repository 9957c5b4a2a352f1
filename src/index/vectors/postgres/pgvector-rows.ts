import { encodeHalfFloats } from '../../../core/numbers/half-floats.ts';
import type { FilterSubject } from '../../../model/filter/filter.ts';
import type { PreparedRow } from '../vector-doors.ts';
import type { PgvectorOptions } from '../vector-kind.ts';

type Storage = PgvectorOptions['storage'];

/** The columns of a table of vectors, in the order of {@link encodeRows}. */
export const COLUMNS = [
  'id',
  'conversation_id',
  'parent_id',
  'created_at',
  'author',
  'channel',
  'attributes',
  'embedding',
] as const;

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);

const END = Buffer.from([0xff, 0xff]);

const NULL = Buffer.from([0xff, 0xff, 0xff, 0xff]);

function encodeField(bytes: Buffer | null): readonly Buffer[] {
  if (bytes === null) return [NULL];
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return [length, bytes];
}

const encodeText = (text: string | null | undefined) => (typeof text === 'string' ? Buffer.from(text) : null);

function encodeNumber(number: number | null | undefined): Buffer | null {
  if (typeof number !== 'number' || !Number.isFinite(number)) return null;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(number);
  return bytes;
}

/** jsonb, version 1. */
function encodeAttributes(attributes: FilterSubject['attributes']): Buffer {
  return Buffer.from(`\x01${JSON.stringify(attributes ?? {})}`);
}

/** pgvector's form: the dimension, two empty bytes, big-endian numbers of 32 or 16 bits. */
function encodeVector(vector: Float32Array | null, storage: Storage): Buffer | null {
  if (vector === null) return null;
  const numbers = storage === 'vector' ? vector : encodeHalfFloats(vector);
  const bytes = Buffer.alloc(4 + numbers.byteLength);
  bytes.writeInt16BE(vector.length);
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).copy(bytes, 4);
  if (storage === 'vector') bytes.subarray(4).swap32();
  else bytes.subarray(4).swap16();
  return bytes;
}

const FIELDS = Buffer.from([0, COLUMNS.length]);

function encodeRow({ id, subject, vector }: PreparedRow, storage: Storage): readonly Buffer[] {
  return [
    FIELDS,
    ...[
      encodeText(id),
      encodeText(subject.conversationId),
      encodeText(subject.parentId),
      encodeNumber(subject.timestamp),
      encodeText(subject.author),
      encodeText(subject.channel),
      encodeAttributes(subject.attributes),
      encodeVector(vector, storage),
    ].flatMap(encodeField),
  ];
}

/** Rows in the binary format of COPY. */
export function encodeRows(rows: readonly PreparedRow[], storage: Storage): Buffer {
  return Buffer.concat([HEADER, ...rows.flatMap((row) => encodeRow(row, storage)), END]);
}

/** A row as `select` returns it. */
interface StoredRow {
  readonly id: string;
  readonly conversation_id: string | null;
  readonly parent_id: string | null;
  readonly created_at: number | null;
  readonly author: string | null;
  readonly channel: string | null;
  readonly attributes: NonNullable<FilterSubject['attributes']>;
  /** pgvector's text, `[1,2]`. */
  readonly embedding: string | null;
}

/** The row that {@link encodeRows} wrote, with the numbers that were stored. */
export function decodeRow(row: StoredRow): PreparedRow {
  const { id, conversation_id, parent_id, created_at, author, channel, attributes, embedding } = row;
  return {
    id,
    subject: {
      id,
      conversationId: conversation_id,
      parentId: parent_id,
      timestamp: created_at,
      author,
      channel,
      attributes,
    },
    vector: embedding === null ? null : Float32Array.from(JSON.parse(embedding) as number[]),
  };
}
