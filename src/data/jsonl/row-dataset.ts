import { ValidationError } from '../../core/errors/errors.ts';
import { computeHashInSteps } from '../../core/hash/hash.ts';
import { finishSteps, type Steps } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { Counts } from '../prepared/counts.ts';
import { displayDataset } from '../prepared/dataset-display.ts';
import { groupJudgements, type Judgement } from '../prepared/prepared.ts';
import { countUndecodable } from '../prepared/undecodable.ts';
import { type Located, type QrelRow, type QueryRow, selectUniqueRows, type TurnRow } from './jsonl-rows.ts';
import { splitQueries } from './jsonl-split.ts';
import { selectSoundTurns } from './jsonl-turns.ts';
import type { RowFaults } from './row-faults.ts';

/**
 * The queries whose ids are their own, whose turns and conversations are there, and whose anchors are earlier turns of
 * their conversations, in time order.
 */
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

/**
 * The judgements of queries and turns that are there; a turn that is not strictly earlier than its query can't be
 * found.
 */
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

/** Rows that fit their schemas, wherever they come from. */
interface LocatedRows {
  readonly turns: readonly Located<TurnRow>[];
  readonly queries: readonly Located<QueryRow>[];
  readonly judgements: readonly Located<QrelRow>[];
}

/** What distinguishes one source of rows from another. */
interface RowSource {
  /** Of the dataset. */
  readonly name: string;
  readonly licence: string;
  /** Where the judgements are. */
  readonly judgedBy: string;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** Ends reading, see {@link RowFaults.settle}. */
  readonly settle: () => Counts;
  /** How messages name one of the lists. */
  readonly describeList: (list: 'turns' | 'queries') => string;
}

/** What rows tell without attributes. */
const FEATURES = ['text', 'time', 'author', 'channel', 'reply links'];

/**
 * The dataset that rows make: rows that belong together, split into dev and test.
 *
 * @throws ValidationError for invalid rows unless they are skipped, and if no turn or no query is left.
 */
export function buildRowDataset(rows: LocatedRows, faults: RowFaults, source: RowSource): Dataset {
  return finishSteps(buildRowDatasetInSteps(rows, faults, source));
}

/** The most steps of {@link buildRowDatasetInSteps}: a few, and one for each row that is hashed. */
export function countRowDatasetSteps({ turns, queries, judgements }: LocatedRows): number {
  return 6 + turns.length + queries.length + judgements.length;
}

/** {@link buildRowDataset} in steps, of which the longest builds the corpus. */
export function* buildRowDatasetInSteps(rows: LocatedRows, faults: RowFaults, source: RowSource): Steps<Dataset> {
  const { name, licence, judgedBy, relevantGrade, settle, describeList } = source;
  const turns = selectSoundTurns(rows.turns, faults);
  yield;
  const asked = selectSoundQueries(rows.queries, turns, faults);
  yield;
  const judgements = selectSoundJudgements(rows.judgements, asked, turns, faults);
  yield;
  const counts = settle();
  if (turns.length === 0)
    throw new ValidationError(`no turn in ${describeList('turns')}; add turns, or correct the skipped rows`);
  if (asked.length === 0)
    throw new ValidationError(`no query in ${describeList('queries')}; add queries, or correct the skipped rows`);
  const corpus = new Corpus(turns);
  yield;
  const { queries, devConversations } = splitQueries(corpus, asked);
  countUndecodable([...turns, ...asked], counts);
  yield;
  counts.add('messages', corpus.size);
  counts.add('conversations', corpus.conversations.length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  counts.add('judgements', judgements.length);
  const hash = yield* computeHashInSteps({ turns: corpus.turns, queries, judgements, relevantGrade });
  yield;
  return displayDataset({
    name,
    declaration: {
      task: `each query must find the messages that ${judgedBy} judges, among all strictly earlier ones`,
      features: [...FEATURES, ...(turns.some(({ attributes }) => attributes !== undefined) ? ['attributes'] : [])],
      licence,
    },
    corpus,
    queries,
    qrels: groupJudgements(queries, judgements),
    relevantGrade,
    gradeNames: {},
    devConversations,
    facts: counts.toFacts(),
    hash,
  });
}
