import { ValidationError } from '../../core/errors.ts';
import type { MemoryRecord } from '../../model/memory-record.ts';
import type { CurationOperation } from '../../text/curation-rules.ts';

/** A record before and after an operation; null: it was not there. */
export interface RecordChange {
  readonly id: string;
  readonly before: MemoryRecord | null;
  readonly after: MemoryRecord | null;
  /** Whether the record is sensitive, so that the log holds its id alone. */
  readonly withheld: boolean;
}

/** A decision, with what is needed to explain it and to undo it. */
export interface CurationEntry {
  readonly kind: 'curate';
  /** The id of the record that came in. */
  readonly id: string;
  readonly operation: CurationOperation;
  /** The name of the rule, or what an endpoint gave as its reason. */
  readonly reason: string;
  /** The id of the record that it concerns; null for an addition. */
  readonly target: string | null;
  /** The records that the new one was compared with, nearest first, with the cosines of their vectors. */
  readonly neighbours: readonly { readonly id: string; readonly cosine: number }[];
  readonly changes: readonly RecordChange[];
}

/** An entry of the log: a decision, the undoing of the one with the sequence `of`, and that the memory has what the entry before says. */
export type LogEntry = CurationEntry | { readonly kind: 'undo'; readonly of: number } | { readonly kind: 'done' };

/** The vector as base64 of its float32, which keeps every bit. */
function packValue(key: string, value: unknown): unknown {
  if (key !== 'embedding' || !(value instanceof Float32Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}

function unpackValue(key: string, value: unknown): unknown {
  if (key !== 'embedding' || typeof value !== 'string') return value;
  const bytes = Uint8Array.from(Buffer.from(value, 'base64')); // a buffer of its own, aligned
  return new Float32Array(bytes.buffer);
}

export const encodeLogEntry = (entry: LogEntry): Uint8Array => Buffer.from(JSON.stringify(entry, packValue));

/** @throws ValidationError with the entry. */
export function decodeLogEntry(payload: Uint8Array, sequence: number): LogEntry {
  try {
    const entry = JSON.parse(Buffer.from(payload).toString('utf8'), unpackValue) as LogEntry;
    if (['curate', 'undo', 'done'].includes(entry.kind)) return entry;
  } catch {
    // reported below
  }
  const remedy = 'open the folder with the program that wrote it';
  throw new ValidationError(`entry ${sequence} of the journal is no decision of a curation; ${remedy}`, { sequence });
}
