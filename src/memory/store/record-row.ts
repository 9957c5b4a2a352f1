import { check } from '../../core/validation/validation.ts';
import { describeFaults, time, turnRow } from '../../data/jsonl/jsonl-rows.ts';
import { checkRow } from '../../model/turns/memory-fields.ts';
import {
  EMPTY_OUTCOME_STATISTICS,
  type MemoryRecord,
  memoryRecordSchema,
  toMemoryRecord,
} from '../../model/turns/turn.ts';

/** A record that is read; `embedding` is null until its vector is known. */
export type RowRecord = Omit<MemoryRecord, 'embedding'> & { readonly embedding: Float32Array | null };

/** A fault of a row, as one line. */
export class RowFault {
  readonly detail: string;

  constructor(detail: string) {
    this.detail = detail;
  }
}

const NO_VECTOR = new Float32Array();

/** The vector of a row; null for a row without. */
function readEmbedding(value: unknown): Float32Array | null | RowFault {
  if (value === undefined || value === null) return null;
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'number');
  if (!isList && !(value instanceof Float32Array) && !(value instanceof Float64Array))
    return new RowFault('embedding: expected a list of numbers');
  if (value.length === 0) return new RowFault('embedding: expected at least one number, got an empty list');
  const embedding = Float32Array.from(value);
  const at = embedding.findIndex((item) => !Number.isFinite(item));
  return at < 0 ? embedding : new RowFault(`embedding: expected finite float32 numbers, got ${value[at]} at ${at}`);
}

/** Times as milliseconds; what is no time is left to the schema. */
function readTime(value: unknown): unknown {
  const result = check(time, value);
  return 'value' in result ? result.value : value;
}

/** A row of conversations has a text, a row of records a context. */
function readFields(row: Readonly<Record<string, unknown>>): MemoryRecord | RowFault {
  if (Object.hasOwn(row, 'text')) {
    const turn = checkRow(turnRow, row);
    if ('faults' in turn) return new RowFault(describeFaults(turn.faults));
    return toMemoryRecord(turn.value, { embedding: NO_VECTOR, stats: EMPTY_OUTCOME_STATISTICS });
  }
  const { salience: _, ...own } = row; // an export has it; a memory computes it
  const given = { ...own, createdAt: readTime(row.createdAt), embedding: NO_VECTOR };
  const record = checkRow(memoryRecordSchema, given);
  return 'faults' in record ? new RowFault(describeFaults(record.faults)) : record.value;
}

/** The record of a row: fields of a record, or of a turn of `turns.jsonl`. */
export function readRecordRow(row: unknown): RowRecord | RowFault {
  if (row === null || typeof row !== 'object' || Array.isArray(row))
    return new RowFault('expected an object with the fields of a record');
  const { embedding: written, ...fields } = row as Record<string, unknown>;
  const record = readFields(fields);
  const embedding = readEmbedding(written);
  if (record instanceof RowFault) return record;
  return embedding instanceof RowFault ? embedding : { ...record, embedding };
}
