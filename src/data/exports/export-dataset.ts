import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { letEventsIn, mapWithBreaks } from '../../core/terminal/progress.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Qrels } from '../../model/run.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { readOwnQueries } from '../jsonl/jsonl.ts';
import { type QueryChoice, type QueryKind, TASK_WITHOUT_QUERIES } from '../prepared/datasets.ts';
import {
  type Counts,
  countUndecodable,
  displayDataset,
  findTestStart,
  GRADE_NAMES,
  groupJudgements,
  isDev,
  PARENT,
  SAME_THREAD,
} from '../prepared/prepared.ts';
import { ReplyJudgements, replyQuery } from '../prepared/reply-judgements.ts';
import {
  type AskedMessage,
  buildMessageTurns,
  type MessageTurn,
  type Siblings,
  selectAsked,
  selectContinuations,
} from './message-turns.ts';
import type { SourceMessage } from './source-message.ts';

/** The options of every export. */
export interface ExportOptions extends QueryChoice {
  /** The zip file of the export, the unpacked folder, or the file with the conversations. */
  readonly path: string;
}

/** What distinguishes one source of conversations without queries from another. */
export interface ExportSource {
  /** Of the dataset. */
  readonly name: string;
  readonly path: string;
  /** By default `yours`. */
  readonly licence?: string;
  /** What a system may use. */
  readonly features: readonly string[];
  /** By default `messages`. */
  readonly siblings?: Siblings;
  /** `order` if the source has no times; by default `real`. */
  readonly times?: 'real' | 'order';
}

const TASKS: Readonly<Record<QueryKind, string>> = {
  replies: 'a message must find the one that it answers among all earlier ones',
  continuation: 'the last message of a conversation must find the rest of it among all earlier messages',
  own: 'your queries, without judgements',
  none: TASK_WITHOUT_QUERIES,
};

/** Queries with their judgements, and what learned parts may be fitted on. */
interface Asked {
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  readonly relevantGrade: number;
  readonly gradeNames: Readonly<Record<number, string>>;
  readonly devConversations: ReadonlySet<string>;
}

/**
 * The dataset of messages and of the queries that the options choose.
 *
 * @param counts what was read and skipped so far; the rest is added.
 * @throws ValidationError if no message has a text, and if no query is left but some are asked for.
 */
export async function buildExportDataset(
  source: ExportSource,
  messages: readonly SourceMessage[],
  choice: QueryChoice,
  counts: Counts,
): Promise<Dataset> {
  const { name, path, licence = 'yours', features, siblings = 'messages', times = 'real' } = source;
  const read = buildMessageTurns(messages, siblings, counts);
  if (read.length === 0) throw createEmptyError(name, path, counts.toFacts());
  await letEventsIn();
  const corpus = new Corpus(read.map(({ turn }) => turn));
  await letEventsIn();
  countUndecodable(corpus.turns, counts);
  const asked = chooseQueries(source, corpus, read, choice, counts);
  countResult(corpus, asked.queries, counts);
  const hashAll = (rows: readonly unknown[]) => mapWithBreaks(rows, { update() {} }, computeHash);
  const [turns, queries] = [await hashAll(corpus.turns), await hashAll(asked.queries)];
  return displayDataset({
    name,
    declaration: { task: TASKS[choice.queries], features, licence, times },
    corpus,
    ...asked,
    facts: counts.toFacts(),
    // Row by row: the text of all rows may be longer than a string can be.
    hash: computeHash({
      turns,
      queries,
      relevantGrade: asked.relevantGrade,
      judged: asked.qrels instanceof ReplyJudgements,
    }),
  });
}

/** The counts tell whether the export is empty or of another product. */
function createEmptyError(name: string, path: string, facts: Dataset['facts']): ValidationError {
  const read = Object.entries(facts).map(([fact, count]) => `${fact}: ${count}`);
  const found = read.length === 0 ? '' : ` (${read.join(', ')})`;
  return new ValidationError(`no message with a text in: ${path}${found}; name an export for ${name}`, { path, facts });
}

function chooseQueries(
  source: ExportSource,
  corpus: Corpus,
  read: readonly MessageTurn[],
  { queries: kind, queryFile }: QueryChoice,
  counts: Counts,
): Asked {
  const unjudged = { qrels: groupJudgements([], []), relevantGrade: 1, gradeNames: {} };
  if (kind === 'none')
    return {
      ...unjudged,
      queries: [],
      devConversations: chooseDev(
        corpus,
        corpus.conversations.map(({ id }) => id),
      ),
    };
  if (kind === 'own') {
    const own = readOwnQueries(queryFile as string, corpus);
    return { ...unjudged, ...own, qrels: groupJudgements(own.queries, []) };
  }
  const asked = kind === 'replies' ? selectReplies(read, counts) : selectLast(read, corpus, counts);
  if (asked.length === 0) {
    const path = source.path;
    throw new ValidationError(`no message for queries: ${kind} in: ${path}; set queries: none to search it`, { path });
  }
  const devConversations = chooseDev(corpus, [...new Set(asked.map(({ turn }) => turn.conversationId))]);
  const queries = asked.map(({ turn, text }) => {
    const split = devConversations.has(turn.conversationId) ? 'dev' : 'test';
    return replyQuery({ ...turn, text }, split, turn.conversationId);
  });
  return {
    queries,
    qrels: new ReplyJudgements(corpus, queries),
    relevantGrade: kind === 'replies' ? PARENT : SAME_THREAD,
    gradeNames: GRADE_NAMES,
    devConversations,
  };
}

function selectReplies(read: readonly MessageTurn[], counts: Counts): AskedMessage[] {
  return selectAsked(read, ({ answers }) => answers, counts);
}

function selectLast(read: readonly MessageTurn[], corpus: Corpus, counts: Counts): AskedMessage[] {
  const starts = new Map(corpus.conversations.map(({ id, turns }) => [id, (turns[0] as Turn).timestamp]));
  const asked = selectContinuations(
    selectAsked(read, ({ message }) => message.byPerson, counts),
    starts,
  );
  counts.add('conversations without a query', corpus.conversations.length - asked.length);
  return asked;
}

/** The conversations that start before the last 30 % of those that are asked. */
function chooseDev(corpus: Corpus, askedIds: readonly string[]): Set<string> {
  const readStart = (id: string) => ({ id, timestamp: corpus.getConversation(id).turns[0]?.timestamp as number });
  const first = findTestStart(askedIds.map(readStart));
  return new Set(corpus.conversations.map(({ id }) => id).filter((id) => isDev(readStart(id), first)));
}

function countResult(corpus: Corpus, queries: readonly Query[], counts: Counts): void {
  counts.add('messages', corpus.size);
  counts.add('conversations', corpus.conversations.length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
}
