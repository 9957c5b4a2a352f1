import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { readFolder, readText } from '../../core/files/files.ts';
import { computeHashInSteps } from '../../core/hash/hash.ts';
import {
  finishStepsWithBreaks,
  ignoreProgress,
  letEventsIn,
  mapWithBreaks,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import type { Dataset, Query, Split } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type DatasetContext, IRC_LICENCE } from '../prepared/datasets.ts';
import {
  ANCESTOR,
  Counts,
  countUndecodable,
  displayDataset,
  GRADE_NAMES,
  groupJudgements,
  type Judgement,
  PARENT,
  SAME_THREAD,
} from '../prepared/prepared.ts';
import { replyQuery, replyQueryId } from '../prepared/reply-judgements.ts';
import { type IrcLog, parseIrcLog } from './irc-log.ts';

/** For each line the earlier lines that it answers, ascending; lines without a link are omitted. */
type Answers = ReadonlyMap<number, readonly number[]>;

const LINK = /^(\d+) (\d+) -\s*$/;

/**
 * Reads the links of a log, `earlier later -` each. A line linked to itself starts a conversation, and is read as a
 * line that answers nothing.
 *
 * @param file names the source in errors.
 * @throws ValidationError for a line of another form, or a link to a line outside the log.
 */
export function parseIrcLinks(text: string, file: string, lineCount: number): Answers {
  const answers = new Map<number, Set<number>>();
  for (const [i, row] of text.split('\n').entries()) {
    if (row.trim() === '') continue;
    const where = `${file}:${i + 1}`;
    const ends = LINK.exec(row)?.slice(1).map(Number);
    if (ends === undefined)
      throw new ValidationError(`${where}: not a link: ${row.trim()}; write it as: earlier later -`);
    const [earlier, later] = [Math.min(...ends), Math.max(...ends)];
    if (later >= lineCount)
      throw new ValidationError(`${where}: link to line ${later} of a log with ${lineCount} lines; correct the link`);
    if (earlier === later) continue;
    const targets = answers.get(later);
    if (targets === undefined) answers.set(later, new Set([earlier]));
    else targets.add(earlier);
  }
  return new Map([...answers].map(([line, targets]) => [line, [...targets].sort((a, b) => a - b)]));
}

/** Which of our parts each folder of the source belongs to. Weights are learned and chosen on its train alone. */
const FOLDERS: readonly (readonly [folder: string, split: Split])[] = [
  ['train', 'dev'],
  ['dev', 'test'],
  ['test', 'test'],
];

const LOG = '.ascii.txt';

const LINKS = '.annotation.txt';

/** A log, the links of its messages, and its split. */
interface AnnotatedLog {
  readonly log: IrcLog;
  readonly answers: Answers;
  readonly split: Split;
}

/**
 * The logs of the folders `train`, `dev` and `test`, in the order of their names; one of the last two may be missing.
 *
 * @throws ValidationError for a folder without logs for both parts, and for a file that is no log; StorageError if a
 *   file cannot be read.
 */
async function readIrcFiles(path: string, counts: Counts, progress: StartProgress): Promise<AnnotatedLog[]> {
  const present = readFolder(path);
  const files = FOLDERS.filter(([folder]) => present.includes(folder)).flatMap(([folder, split]) =>
    readFolder(join(path, folder))
      .filter((name) => name.endsWith(LOG))
      .map((name) => ({ folder: join(path, folder), name: name.slice(0, -LOG.length), split })),
  );
  const stage = progress('logs', files.length);
  const logs = await mapWithBreaks(files, stage, ({ folder, name, split }) => readLog(folder, name, split, counts));
  stage.finish();
  for (const [split, folders] of [
    ['dev', 'train'],
    ['test', 'dev or test'],
  ] as const)
    if (!logs.some((log) => log.split === split))
      throw new ValidationError(
        `no ${LOG} file in folder ${folders} of: ${path}; copy the folders of the source there`,
        { path, split },
      );
  return logs;
}

function readLog(folder: string, name: string, split: Split, counts: Counts): AnnotatedLog {
  counts.add('logs');
  const log = parseIrcLog(name, readText(join(folder, `${name}${LOG}`)), counts);
  const links = join(folder, `${name}${LINKS}`);
  const answers = parseIrcLinks(readText(links), links, log.lineCount);
  for (const targets of answers.values()) counts.add('links to an earlier line', targets.length);
  return { log, answers, split };
}

/** The parent and the links of a message; lines, ascending. */
interface IrcParents {
  /** The messages that it answers. */
  readonly direct: readonly number[];
  /** The lines answered by a linked line that is not a message. */
  readonly lifted: readonly number[];
}

const NONE: readonly number[] = [];

/** The links between the messages of a log: a message may answer several earlier ones, so they are no tree. */
export class IrcThreads {
  readonly #parents = new Map<number, IrcParents>();
  /** For each message another one of its thread; itself for the message that identifies the thread. */
  readonly #head = new Map<number, number>();
  readonly #roots = new Map<number, number>();

  /** @param messages lines of the messages, ascending. */
  constructor(messages: readonly number[], answers: Answers) {
    const known = new Set(messages);
    const lines = [...new Set([...messages, ...answers.keys()])].sort((a, b) => a - b);
    const lifted = new Map<number, readonly number[]>(); // of lines that are no messages, each looked at once
    for (const line of lines) {
      const parents = chooseIrcParents(answers.get(line) ?? NONE, known, lifted);
      if (!known.has(line)) {
        lifted.set(line, listLinkedLines(parents));
        continue;
      }
      this.#parents.set(line, parents);
      const nearest = this.findNearestParent(line);
      this.#roots.set(line, nearest === null ? line : this.findTreeRoot(nearest));
      this.#head.set(line, line);
      for (const parent of listLinkedLines(parents))
        this.#head.set(this.#findThreadHead(line), this.#findThreadHead(parent));
    }
  }

  getParents(line: number): IrcParents {
    return this.#parents.get(line) ?? { direct: NONE, lifted: NONE };
  }

  /** The parent in the tree: the nearest one that is answered, else the nearest that is lifted; null for a root. */
  findNearestParent(line: number): number | null {
    const { direct, lifted } = this.getParents(line);
    return direct.at(-1) ?? lifted.at(-1) ?? null;
  }

  /** The root of a message in the tree. */
  findTreeRoot(line: number): number {
    return this.#roots.get(line) ?? line;
  }

  /**
   * The judgements of a message: all messages that it answers 3, their ancestors 2, other earlier messages of its
   * thread, the connected component, 1. By line.
   */
  gradeCandidates(line: number): Map<number, number> {
    const grades = new Map<number, number>();
    const thread = this.#findThreadHead(line);
    for (const other of this.#parents.keys()) {
      if (other >= line) break;
      if (this.#findThreadHead(other) === thread) grades.set(other, SAME_THREAD);
    }
    for (const ancestor of this.#collectAncestors(line)) grades.set(ancestor, ANCESTOR);
    for (const parent of this.getParents(line).direct) grades.set(parent, PARENT);
    return grades;
  }

  #collectAncestors(line: number): Set<number> {
    const found = new Set<number>();
    const open = [...listLinkedLines(this.getParents(line))];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (found.has(at)) continue;
      found.add(at);
      open.push(...listLinkedLines(this.getParents(at)));
    }
    return found;
  }

  #findThreadHead(line: number): number {
    let at = line;
    for (let above = this.#head.get(at) as number; above !== at; above = this.#head.get(at) as number) {
      this.#head.set(at, this.#head.get(above) as number); // halves the way (path halving)
      at = above;
    }
    return at;
  }
}

function listLinkedLines({ direct, lifted }: IrcParents): readonly number[] {
  return [...direct, ...lifted];
}

function chooseIrcParents(
  targets: readonly number[],
  known: ReadonlySet<number>,
  liftedOf: ReadonlyMap<number, readonly number[]>,
): IrcParents {
  const lifted = new Set(targets.flatMap((target) => liftedOf.get(target) ?? NONE));
  const direct = targets.filter((target) => known.has(target));
  for (const target of direct) lifted.delete(target);
  return { direct, lifted: [...lifted].sort((a, b) => a - b) };
}

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
