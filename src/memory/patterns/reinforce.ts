import { RecordNotFoundError, ValidationError } from '../../core/errors.ts';
import type { MemoryRecord } from '../../model/memory-record.ts';
import type { Memory } from '../engine/memory.ts';

/** The attribute that counts how often a record was of use: what the signal `reinforcement` reads. */
export const USE_COUNT = 'useCount';

/** The uses of a record; 0 if nobody has counted. @throws ValidationError for an attribute of another kind. */
export function readUseCount({ id, metadata }: MemoryRecord): number {
  const count = metadata[USE_COUNT] ?? 0;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count;
  throw new ValidationError(`${USE_COUNT} of record ${id} is no count: ${String(count)}; correct the attribute`, {
    id,
  });
}

/**
 * Counts a use of records, all or none: adds 1 to the attribute `useCount` of each. One caller at a time; what is observed of a record at the same moment may be
 * lost.
 *
 * @param ids each counts once.
 * @throws RecordNotFoundError, ValidationError for an attribute that is no count, StorageError.
 */
export async function reinforce(memory: Memory, ids: Iterable<string>): Promise<void> {
  const records = [...new Set(ids)].map((id) => {
    const record = memory.get(id);
    if (record === null) throw new RecordNotFoundError('memory', id);
    return { ...record, metadata: { ...record.metadata, [USE_COUNT]: readUseCount(record) + 1 } };
  });
  await memory.upsert(records);
}
