import type { Dataset, Query } from '../../model/dataset.ts';
import { isSensitive } from '../../model/sendable-text.ts';
import type { Turn } from '../../model/turn.ts';
import type { QueryRecord, RankedTurn, TurnRecord } from './result.ts';

/** Characters of a text that a report shows. */
const SHOWN_CHARACTERS = 600;

function shortenTurnText(text: string): string {
  const characters = Array.from(text);
  return characters.length <= SHOWN_CHARACTERS ? text : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}

/** Reports are shared: they show no sensitive text. */
const HIDDEN = '(sensitive: not shown)';

function buildTurnRecord(turn: Turn): TurnRecord {
  return { ...turn, text: isSensitive(turn) ? HIDDEN : shortenTurnText(turn.text) };
}

/** The turns that an inspector needs: every ranked one, and the whole conversation of every judged one. In time order. */
export function listInspectedTurns(
  dataset: Dataset,
  queries: readonly Query[],
  rankings: Iterable<readonly RankedTurn[]>,
): TurnRecord[] {
  const { corpus } = dataset;
  const positions = new Set<number>();
  for (const ranking of rankings) for (const { id } of ranking) positions.add(corpus.getPosition(id));
  const conversations = new Set<string>();
  for (const { id } of queries)
    for (const turnId of dataset.qrels.get(id)?.keys() ?? []) conversations.add(corpus.getTurn(turnId).conversationId);
  for (const { id, turns } of corpus.conversations) {
    if (conversations.has(id)) for (const turn of turns) positions.add(corpus.getPosition(turn.id));
  }
  return [...positions].sort((a, b) => a - b).map((position) => buildTurnRecord(corpus.turns[position] as Turn));
}

/** By its attribute, or because the turn that it is has the attribute. */
function isSensitiveQuery({ corpus }: Dataset, query: Query): boolean {
  return isSensitive(query) || (query.turnId !== undefined && isSensitive(corpus.getTurn(query.turnId)));
}

export function buildQueryRecord(dataset: Dataset, query: Query): QueryRecord {
  const { id, text, timestamp, author, channel, cluster } = query;
  return {
    id,
    text: isSensitiveQuery(dataset, query) ? HIDDEN : shortenTurnText(text),
    timestamp,
    author,
    channel,
    cluster,
    kind: query.kind ?? null,
    turnId: query.turnId ?? null,
    // On access: those of all queries together may exceed the memory.
    get judgements() {
      return Object.fromEntries(dataset.qrels.get(id) ?? []);
    },
  };
}
