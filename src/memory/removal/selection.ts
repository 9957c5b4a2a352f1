import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import type { Filter } from '../../model/filter/filter.ts';
import { storedText } from '../../model/turns/memory-fields.ts';
import { type MemoryRecord, type Turn, toTurn } from '../../model/turns/turn.ts';
import type { PastVersion } from '../store/record-history.ts';
import type { Forgotten, ForgottenRecords } from '../store/removal.ts';

/** The records to remove: of a filter, of a conversation, or of a person (the author or the attribute `userId`). */
export type RemovalSelection =
  | { readonly filter: Filter | string }
  | { readonly conversationId: string }
  | { readonly user: string };

const name = storedText.min(1);
const selectionSchema = z
  .strictObject({ filter: z.unknown().optional(), conversationId: name.optional(), user: name.optional() })
  .refine((selection) => Object.keys(selection).length === 1, 'one of filter, conversationId and user');

/** The filter of a selection, as it was written. @throws ConfigurationError for anything but one criterion. */
export function toFilter(selection: RemovalSelection): unknown {
  const { filter, conversationId, user } = parse(selectionSchema, selection, 'the records to remove');
  if (conversationId !== undefined) return { op: '=', field: 'conversationId', value: conversationId };
  if (user === undefined) return filter;
  return { op: 'or', of: ['userId', 'author'].map((field) => ({ op: '=', field, value: user })) };
}

/** The ids of the records that a record was made of: the episodes of a summary or a procedure, the source of a fact. */
function listOrigins({ metadata }: MemoryRecord): readonly string[] {
  const { memoryType, episodes, source } = metadata;
  if (memoryType === 'semantic') return typeof source === 'string' ? [source] : [];
  const isMade = memoryType === 'summary' || memoryType === 'procedural';
  return isMade && Array.isArray(episodes) ? (episodes as readonly string[]) : [];
}

/** True of another record that was made of some. */
const isMadeOf = (record: MemoryRecord, ids: ReadonlySet<string>) =>
  !ids.has(record.id) && listOrigins(record).some((id) => ids.has(id));

/** The records of a removal. */
export interface RemovalPlan extends Forgotten, ForgottenRecords {
  /** The ids of the records that the selection names, in their order. */
  readonly selected: readonly string[];
  /** The other records that were made of these, by type: `summary`, `procedural` or `semantic`. */
  readonly derived: ReadonlyMap<string, string>;
}

/**
 * Finds the records of a selection, and those that were made of them. O(records), times the depth at which records are
 * made of others.
 *
 * @param list gives the records of the memory.
 * @param logged records that logs have. Of one that the memory has too, only the memory's own counts.
 * @param past versions of the history of the memory. Those of a record that is gone count as it. Of another record the
 *   versions go that the selection fits, or that were made of removed records.
 */
export function planRemoval(
  list: () => Iterable<MemoryRecord>,
  logged: readonly MemoryRecord[],
  accepts: (turn: Turn) => boolean,
  past: readonly PastVersion[] = [],
): RemovalPlan {
  const selects = (record: MemoryRecord) => accepts(toTurn(record));
  const known = new Set<string>();
  const selected: string[] = [];
  for (const record of list()) {
    known.add(record.id);
    if (selects(record)) selected.push(record.id);
  }
  const goneVersions = past.map(({ record }) => record).filter(({ id }) => !known.has(id));
  const gone = [...logged.filter(({ id }) => !known.has(id)), ...goneVersions].filter(selects).map(({ id }) => id);
  const ids = new Set([...selected, ...gone]);
  const derived = new Map<string, string>();
  for (let before = -1; before < ids.size; ) {
    before = ids.size;
    for (const record of list())
      if (isMadeOf(record, ids)) {
        ids.add(record.id);
        derived.set(record.id, String(record.metadata.memoryType));
      }
    for (const record of goneVersions) if (isMadeOf(record, ids)) ids.add(record.id);
  }
  const versions = past
    .filter(({ record }) => !ids.has(record.id) && (selects(record) || isMadeOf(record, ids)))
    .map(({ record, from }) => [record.id, from] as const);
  return { selected, derived, ids, versions, selects };
}
