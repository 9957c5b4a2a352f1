import { RecordNotFoundError } from '../../core/errors/errors.ts';
import { readUseCount } from '../../model/turns/memory-fields.ts';
import type { Memory } from '../engine/memory.ts';

/**
 * Counts a use of records, all or none: adds 1 to the attribute `useCount` of each. One caller at a time; what is observed of a record at the same moment may be
 * lost.
 *
 * @param ids each counts once.
 * @throws RecordNotFoundError, StorageError.
 */
export async function reinforce(memory: Memory, ids: Iterable<string>): Promise<void> {
  const records = [...new Set(ids)].map((id) => {
    const record = memory.get(id);
    if (record === null) throw new RecordNotFoundError('memory', id);
    return { ...record, metadata: { ...record.metadata, useCount: readUseCount(record) + 1 } };
  });
  await memory.upsert(records);
}
