import { findChainEnds } from '../../model/turns/thread-tree.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type Located, selectUniqueRows, type TurnRow } from './jsonl-rows.ts';
import type { RowFaults } from './row-faults.ts';

type Rows = ReadonlyMap<string, Located<TurnRow>>;

/**
 * The turns that hang together, in the order of the file: each reaches a root of its own conversation over parents that are not later. Turns below an invalid
 * turn are excluded too, since another parent would create a conversation that never existed.
 */
export function selectSoundTurns(located: readonly Located<TurnRow>[], faults: RowFaults): Turn[] {
  const rows = selectUniqueRows(located, faults);
  const broken = new Set<string>();
  for (const { where, row } of rows.values()) {
    const fault = describeLinkFault(row, rows);
    if (fault === null) continue;
    broken.add(row.id);
    faults.add(where, ...fault);
  }
  const reached = listReachable(rows, broken);
  const unreached = [...rows.values()].filter(({ row }) => !reached.has(row.id) && !broken.has(row.id));
  addUnreached(unreached, rows, broken, faults);
  return [...rows.values()].map(({ row }) => row).filter((row) => reached.has(row.id));
}

function describeLinkFault(row: TurnRow, rows: Rows): [kind: string, detail: string] | null {
  if (row.parentId === null) return null;
  const parent = rows.get(row.parentId)?.row;
  if (parent === undefined) return ['missing parent', row.parentId];
  if (parent.conversationId !== row.conversationId)
    return ['parent in another conversation', `${row.conversationId} and ${parent.conversationId}`];
  return parent.timestamp > row.timestamp ? ['before its parent', row.parentId] : null;
}

/** The ids that hang from a root over links that are not broken. */
function listReachable(rows: Rows, broken: ReadonlySet<string>): Set<string> {
  const children = new Map<string | null, string[]>();
  for (const { row } of rows.values()) {
    if (broken.has(row.id)) continue;
    const list = children.get(row.parentId);
    if (list === undefined) children.set(row.parentId, [row.id]);
    else list.push(row.id);
  }
  const reached = new Set<string>(children.get(null));
  for (const id of reached) for (const child of children.get(id) ?? []) reached.add(child);
  return reached;
}

/** A turn that reaches no root is in a cycle, or hangs from a faulty turn. */
function addUnreached(
  unreached: readonly Located<TurnRow>[],
  rows: Rows,
  broken: ReadonlySet<string>,
  faults: RowFaults,
): void {
  const ids = unreached.map(({ row }) => row.id);
  const ends = findChainEnds(ids, (id) => (broken.has(id) ? null : (rows.get(id)?.row.parentId ?? null)));
  for (const { where, row } of unreached) {
    const end = ends.get(row.id) as string;
    if (end === row.id) faults.add(where, 'its own ancestor, a cycle', row.id);
    else faults.add(where, 'hangs from a faulty turn', end);
  }
}
