import { JOURNAL_START, type JournalPosition } from '../../core/journal/position.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { Forgotten, LogContent } from '../store/removal.ts';
import type { Decision, Done, LogEntry, RecordChange } from './change-log.ts';

/** True if a JSON value has one of some texts, at any depth. */
function mentions(value: unknown, texts: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return texts.has(value);
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some((inner) => mentions(inner, texts));
}

const isDecision = (entry: LogEntry<Decision>): entry is Decision => 'changes' in entry;
const isDone = (entry: LogEntry<Decision>): entry is Done => entry.kind === 'done';
const isKnown = (entry: LogEntry<Decision> | null) =>
  entry !== null && (isDone(entry) || entry.kind === 'undo' || Array.isArray((entry as Decision).changes));
const listSides = ({ before, after }: RecordChange): MemoryRecord[] => [before ?? [], after ?? []].flat();

/** The reason of a decision whose neighbours are forgotten: what an endpoint said may have their words. */
const FORGOTTEN_REASON = 'forgotten';

/**
 * A decision without the changes of forgotten records, and without forgotten neighbours; null if no change is left to
 * undo, or if the decision is about a forgotten record. The same decision if it names none.
 */
function forgetDecision(decision: Decision, { ids, selects }: Forgotten): Decision | null {
  const isGone = (change: RecordChange) => mentions(change, ids) || listSides(change).some(selects);
  const changes = decision.changes.filter((change) => !isGone(change));
  const isSame = changes.length === decision.changes.length;
  if (isSame && !mentions(decision, ids)) return decision;
  if (!isSame && changes.length === 0) return null;
  const { neighbours, ...others } = { ...decision, changes } as Decision & { readonly neighbours?: readonly unknown[] };
  if (mentions(others, ids)) return null;
  if (neighbours === undefined) return others;
  const kept = neighbours.filter((neighbour) => !mentions(neighbour, ids));
  return { ...others, neighbours: kept, reason: FORGOTTEN_REASON } as Decision;
}

/**
 * The entries of a change log, as they are stored: the vector of a record is a text. null for JSON of something else.
 *
 * @throws SyntaxError for other bytes.
 */
export function readDecisions(payloads: readonly Uint8Array[]): LogContent | null {
  const entries = payloads.map((payload) => JSON.parse(Buffer.from(payload).toString('utf8')) as LogEntry<Decision>);
  if (!entries.every(isKnown)) return null;
  return {
    records: entries.flatMap((entry) => (isDecision(entry) ? entry.changes.flatMap(listSides) : [])),
    forget(forgotten) {
      let changed = 0;
      let position: JournalPosition = JOURNAL_START;
      const kept = entries.map((entry, i) => {
        if (isDone(entry)) position = entry.position;
        const pruned = isDecision(entry) ? forgetDecision(entry, forgotten) : entry;
        if (pruned === entry) return payloads[i] as Uint8Array;
        changed++;
        // An entry without a decision keeps the numbers of the others, by which they are undone.
        return Buffer.from(JSON.stringify(pruned ?? ({ kind: 'done', position } satisfies Done)));
      });
      return { entries: kept, changed };
    },
  };
}
