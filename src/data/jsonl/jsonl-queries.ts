import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { Judgement } from '../prepared/prepared.ts';
import { type Located, type QrelRow, type QueryRow, selectUniqueRows } from './jsonl-rows.ts';
import type { RowFaults } from './row-faults.ts';

/** The queries whose ids are their own, whose turns and conversations are there, and whose anchors are earlier turns of their conversations, in time order. */
export function selectSoundQueries(
  located: readonly Located<QueryRow>[],
  turns: readonly Turn[],
  faults: RowFaults,
): QueryRow[] {
  const anchors = new Map(turns.map((turn) => [turn.id, turn]));
  const conversationIds = new Set(turns.map((turn) => turn.conversationId));
  const allSplit = located.some(({ row }) => row.split !== undefined);
  const sound: QueryRow[] = [];
  for (const { where, row } of selectUniqueRows(located, faults).values()) {
    const fault = describeAnchorFault(row, anchors);
    if (fault !== null) faults.add(where, ...fault);
    else if (row.conversationId !== undefined && !conversationIds.has(row.conversationId))
      faults.add(where, 'missing conversation', row.conversationId);
    else if (allSplit && row.split === undefined) faults.add(where, 'no split, where other queries have one', row.id);
    else sound.push(row);
  }
  return sound.sort((a, b) => a.timestamp - b.timestamp || compareBytes(a.id, b.id));
}

function describeAnchorFault(row: QueryRow, turns: ReadonlyMap<string, Turn>): [kind: string, detail: string] | null {
  if (row.anchorTurnId === null) return null;
  const anchor = turns.get(row.anchorTurnId);
  if (anchor === undefined) return ['missing anchor turn', row.anchorTurnId];
  if (row.conversationId !== undefined && row.conversationId !== anchor.conversationId)
    return ['anchor in another conversation', `${row.conversationId} and ${anchor.conversationId}`];
  return anchor.timestamp >= row.timestamp ? ['anchor is not earlier than its query', anchor.id] : null;
}

/** The judgements of queries and turns that are there; a turn that is not strictly earlier than its query can't be found. */
export function selectSoundJudgements(
  located: readonly Located<QrelRow>[],
  queries: readonly QueryRow[],
  turns: readonly Turn[],
  faults: RowFaults,
): Judgement[] {
  const queryTimes = new Map(queries.map((query) => [query.id, query.timestamp]));
  const turnTimes = new Map(turns.map((turn) => [turn.id, turn.timestamp]));
  const seen = new Set<string>();
  const sound: Judgement[] = [];
  for (const { where, row } of located) {
    const asked = queryTimes.get(row.queryId);
    const said = turnTimes.get(row.turnId);
    const pair = `${row.queryId} ${row.turnId}`;
    if (asked === undefined) faults.add(where, 'unknown query', row.queryId);
    else if (said === undefined) faults.add(where, 'unknown turn', row.turnId);
    else if (said >= asked) faults.add(where, 'turn is not earlier than its query', row.turnId);
    else if (seen.has(pair)) faults.add(where, 'judged twice', pair);
    else sound.push(row);
    seen.add(pair);
  }
  return sound;
}
