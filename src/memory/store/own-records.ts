import { parseRow } from '../../model/turns/memory-fields.ts';
import { type MemoryRecord, type MemoryRecordInput, memoryRecordSchema } from '../../model/turns/turn.ts';
import { SHARED_NUMBERS } from './operation.ts';
import { readPlainRecord } from './plain-record.ts';

/** A copy that the caller may keep. */
export function copyRecord(record: MemoryRecord): MemoryRecord {
  return Object.freeze({ ...record, embedding: record.embedding.slice() });
}

/** Copies vectors. Those that follow each other are views of one array of at most {@link SHARED_NUMBERS}. */
function copyVectors(vectors: readonly Float32Array[]): Float32Array[] {
  let left = vectors.reduce((sum, { length }) => sum + length, 0);
  let shared = new Float32Array(0);
  let at = 0;
  return vectors.map((vector) => {
    if (at + vector.length > shared.length) {
      shared = new Float32Array(Math.min(left, Math.max(SHARED_NUMBERS, vector.length)));
      at = 0;
    }
    const copy = shared.subarray(at, at + vector.length);
    copy.set(vector);
    at += vector.length;
    left -= vector.length;
    return copy;
  });
}

function parseRecord(input: MemoryRecordInput, i: number): MemoryRecord {
  const plain = readPlainRecord(input);
  if (plain !== null) return plain;
  const id = (input as { id?: unknown } | null)?.id;
  return parseRow(memoryRecordSchema, input, typeof id === 'string' ? `record ${id}` : `record at ${i}`);
}

/**
 * Records of the store's own: the caller may change what was passed, of which nothing is shared.
 *
 * @throws ConfigurationError.
 */
export function parseRecords(inputs: readonly MemoryRecordInput[]): MemoryRecord[] {
  const parsed = inputs.map(parseRecord);
  const vectors = copyVectors(parsed.map(({ embedding }) => embedding));
  for (const [i, record] of parsed.entries()) (record as { embedding: Float32Array }).embedding = vectors[i]!;
  return parsed;
}
