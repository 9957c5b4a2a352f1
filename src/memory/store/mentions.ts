import type { MemoryRecord } from '../../model/turns/turn.ts';

/** A record without the ids of others that it names as its parent or as what replaced it; null if it names none. */
export function withoutMentions(record: MemoryRecord, ids: ReadonlySet<string>): MemoryRecord | null {
  const { supersededBy, ...others } = record.metadata;
  const isChild = record.parentId !== null && ids.has(record.parentId);
  const isReplaced = typeof supersededBy === 'string' && ids.has(supersededBy);
  if (!isChild && !isReplaced) return null;
  const parentId = isChild ? null : record.parentId;
  return { ...record, parentId, metadata: isReplaced ? others : record.metadata };
}
