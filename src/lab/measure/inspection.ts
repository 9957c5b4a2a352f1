import { type ShowableText, stateShown } from '../../core/display/showable-text.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { showQuery, showTurn } from '../../model/turns/shown-texts.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { Measurement } from './measurement.ts';
import type { DatasetSummary, QueryRecord, RankedTurn, TurnRecord } from './result.ts';

/** Characters of a text that a report shows. */
const SHOWN_CHARACTERS = 600;

function shortenTurnText(text: ShowableText): ShowableText {
  const characters = Array.from(text);
  return characters.length <= SHOWN_CHARACTERS
    ? text
    : stateShown(`${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`);
}

function buildTurnRecord(turn: Turn): TurnRecord {
  const { id, conversationId, parentId, timestamp, author, channel } = turn;
  return { id, conversationId, parentId, timestamp, author, channel, text: shortenTurnText(showTurn(turn)) };
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

export function buildQueryRecord(dataset: Dataset, query: Query): QueryRecord {
  const { id, timestamp, author, channel, cluster } = query;
  return {
    id,
    text: shortenTurnText(showQuery(query, dataset.corpus)),
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

/** What a result says of its data and of its queries, with the turns that its rankings show. */
export function describeMeasured(
  dataset: Dataset,
  split: DatasetSummary['split'],
  { queries, unanswerable }: Pick<Measurement, 'queries' | 'unanswerable'>,
  rankings: Iterable<readonly RankedTurn[]>,
) {
  const { name, declaration, relevantGrade, gradeNames, hash, facts } = dataset;
  const turns = listInspectedTurns(dataset, queries, rankings);
  const summary: DatasetSummary = { name, ...declaration, relevantGrade, gradeNames, hash, split, facts, turns };
  const record = (query: Query) => buildQueryRecord(dataset, query);
  return { dataset: summary, queries: queries.map(record), unanswerable: unanswerable.map(record) };
}
