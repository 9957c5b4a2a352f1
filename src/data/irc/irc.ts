import { computeHashInSteps } from '../../core/hash/hash.ts';
import { finishStepsWithBreaks, ignoreProgress } from '../../core/terminal/progress.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { Counts } from '../prepared/counts.ts';
import { displayDataset } from '../prepared/dataset-display.ts';
import { type DatasetContext, IRC_LICENCE } from '../prepared/datasets.ts';
import { GRADE_NAMES, PARENT } from '../prepared/judgements.ts';
import { groupJudgements, type Judgement } from '../prepared/prepared.ts';
import { replyQuery, replyQueryId } from '../prepared/reply-query.ts';
import { countUndecodable } from '../prepared/undecodable.ts';
import { type AnnotatedLog, readIrcFiles } from './irc-files.ts';
import { IrcThreads } from './irc-threads.ts';

/** Lines before this one are context without annotated links. */
const CONTEXT_LINES = 1000;

/** The messages of a log, and its queries. */
interface IrcTurns {
  readonly turns: readonly Turn[];
  readonly queries: readonly Query[];
  readonly judgements: readonly Judgement[];
  /** The number of messages that answer several. */
  readonly severalParents: number;
}

/**
 * Each message as a turn, in the tree of nearest parents that it belongs to as its conversation, so that no
 * conversation tells what is said later. Each annotated message that answers another as a query, whose cluster is the
 * log.
 */
export function buildIrcTurns({ log, answers, split }: AnnotatedLog): IrcTurns {
  const lines = log.messages.map(({ line }) => line);
  const threads = new IrcThreads(lines, answers);
  const digits = String(log.lineCount - 1).length;
  const formatIrcId = (line: number) => `${log.name}:${String(line).padStart(digits, '0')}`;
  const turns = log.messages.map(({ line, timestamp, nick, text }): Turn => {
    const parent = threads.findNearestParent(line);
    return {
      id: formatIrcId(line),
      conversationId: `t-${formatIrcId(threads.findTreeRoot(line))}`,
      parentId: parent === null ? null : formatIrcId(parent),
      timestamp,
      author: nick,
      channel: log.name,
      text,
    };
  });
  const isAnswering = (line: number) => line >= CONTEXT_LINES && threads.getParents(line).direct.length > 0;
  return {
    turns,
    queries: turns.filter((_, i) => isAnswering(lines[i] as number)).map((turn) => replyQuery(turn, split, log.name)),
    judgements: lines.filter(isAnswering).flatMap((line) =>
      [...threads.gradeCandidates(line)].map(([other, grade]) => ({
        queryId: replyQueryId(formatIrcId(line)),
        turnId: formatIrcId(other),
        grade,
      })),
    ),
    severalParents: lines.filter((line) => threads.getParents(line).direct.length > 1).length,
  };
}

/** The folder with the parts of the IRC logs. */
export interface IrcOptions {
  /** The folder that holds `train`, and `dev` or `test` or both, with `.ascii.txt` and `.annotation.txt` files. */
  readonly path: string;
}

/**
 * Ubuntu's IRC channel with links from each message to those that it answers: a message must find them in the log
 * before it. See docs/datasets/irc.md.
 *
 * @throws ValidationError for a folder or a file of another form; StorageError if a file cannot be read.
 */
export async function loadIrc(
  { path }: IrcOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const counts = new Counts();
  const logs = await readIrcFiles(path, counts, progress);
  const read = logs.map(buildIrcTurns);
  const corpus = new Corpus(read.flatMap(({ turns }) => turns));
  const queries = read.flatMap((one) => one.queries).sort((a, b) => a.timestamp - b.timestamp);
  const judgements = read.flatMap((one) => one.judgements);
  countResult(corpus, queries, counts);
  counts.add(
    'messages that answer several',
    read.reduce((sum, one) => sum + one.severalParents, 0),
  );
  await letEventsIn();
  const dev = read.filter((_, i) => logs[i]?.split === 'dev').flatMap(({ turns }) => turns);
  const hashed = { turns: corpus.turns, queries, judgements };
  const hash = await finishStepsWithBreaks(computeHashInSteps(hashed), () => {});
  return displayDataset({
    name: 'irc',
    declaration: {
      task: 'a message on a busy channel must find the messages that it answers among all strictly earlier ones',
      features: ['text', 'time', 'author (nick)', 'channel (log file)', 'earlier reply links (as annotated)'],
      licence: IRC_LICENCE,
    },
    corpus,
    queries,
    qrels: groupJudgements(queries, judgements),
    relevantGrade: PARENT,
    gradeNames: GRADE_NAMES,
    devConversations: new Set(dev.map((turn) => turn.conversationId)),
    facts: counts.toFacts(),
    hash,
  });
}

function countResult(corpus: Corpus, queries: readonly Query[], counts: Counts): void {
  const threads = corpus.conversations.filter(({ turns }) => turns.length > 1);
  countUndecodable(corpus.turns, counts);
  counts.add('messages', corpus.size);
  counts.add('authors', new Set(corpus.turns.map(({ author }) => author)).size);
  counts.add('trees of two or more messages', threads.length);
  counts.add(
    'messages in trees of two or more',
    threads.reduce((sum, { turns }) => sum + turns.length, 0),
  );
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
}
