import { parseRow } from '../../model/turns/memory-fields.ts';
import { type MemoryRecord, type MemoryRecordInput, memoryRecordSchema } from '../../model/turns/turn.ts';

/** A copy that the caller may keep. */
export function copyRecord(record: MemoryRecord): MemoryRecord {
  return Object.freeze({ ...record, embedding: record.embedding.slice() });
}

/**
 * Records of the store's own: the caller may change what was passed. Parsing copies every object but the vectors, which
 * become views of one array.
 *
 * @throws ConfigurationError.
 */
export function parseRecords(inputs: readonly MemoryRecordInput[]): MemoryRecord[] {
  const parsed = inputs.map((input, i) => {
    const id = (input as { id?: unknown } | null)?.id;
    return parseRow(memoryRecordSchema, input, typeof id === 'string' ? `record ${id}` : `record at ${i}`);
  });
  const vectors = new Float32Array(parsed.reduce((sum, { embedding }) => sum + embedding.length, 0));
  let at = 0;
  for (const record of parsed) {
    const own = vectors.subarray(at, at + record.embedding.length);
    own.set(record.embedding);
    (record as { embedding: Float32Array }).embedding = own;
    at += own.length;
  }
  return parsed;
}
