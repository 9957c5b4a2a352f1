import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { unpackGzip } from '../../core/decoding/decoder.ts';
import { refuseLargeFile } from '../../core/decoding/zip-archive.ts';
import { RagPlusPlusError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { streamLines } from '../../core/files/text-lines.ts';
import { computeHashInSteps } from '../../core/hash/hash.ts';
import {
  createEventBreaks,
  finishStepsWithBreaks,
  ignoreProgress,
  letEventsIn,
  type Progress,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type DatasetContext, OASST_LICENCE } from '../prepared/datasets.ts';
import {
  Counts,
  countUndecodable,
  displayDataset,
  findTestStart,
  GRADE_NAMES,
  isDev,
  PARENT,
} from '../prepared/prepared.ts';
import { ReplyJudgements, replyQuery } from '../prepared/reply-judgements.ts';
import { type OasstMessage, type OasstTree, parseOasst } from './oasst-schema.ts';

/** A message as a turn. */
interface OasstTurn {
  readonly turn: Turn;
  /** False if the answered message is missing: the parent is then an older message, or none. */
  readonly answers: boolean;
}

const MINUTE_MILLISECONDS = 60_000;

/** A message and its parent. */
interface Hung {
  readonly message: OasstMessage;
  readonly parentId: string | null;
  /** The prompt answers nothing; a message below an excluded message does not answer its parent. */
  readonly answers: boolean;
}

/**
 * The messages of all trees. The source has no times, so they are synthetic: a minute for each message, tree after tree
 * in the order of the file, within a tree level by level, within a level by id. Siblings must not be adjacent: the time
 * of a message would reveal the message that it answers. Deleted messages and messages without a text are excluded;
 * their answers become children of the message above.
 */
export function buildOasstTurns(trees: readonly OasstTree[], counts: Counts): OasstTurn[] {
  for (const skipped of ['deleted messages', 'messages without a text']) counts.add(`skipped: ${skipped}`, 0);
  const turns: OasstTurn[] = [];
  for (const { message_tree_id, prompt } of trees) {
    let level: readonly Hung[] = [{ message: prompt, parentId: null, answers: false }];
    while (level.length > 0) {
      for (const hung of level) {
        const skipped = findSkipReason(hung.message);
        if (skipped !== null) counts.add(`skipped: ${skipped}`);
        else
          turns.push({
            turn: buildOasstTurn(hung, message_tree_id, turns.length * MINUTE_MILLISECONDS),
            answers: hung.answers,
          });
      }
      level = level.flatMap(hangReplies).sort((a, b) => compareBytes(a.message.message_id, b.message.message_id));
    }
  }
  return turns;
}

function findSkipReason({ deleted, text }: OasstMessage): 'deleted messages' | 'messages without a text' | null {
  if (deleted === true) return 'deleted messages';
  return text.trim() === '' ? 'messages without a text' : null;
}

function buildOasstTurn({ message, parentId }: Hung, tree: string, timestamp: number): Turn {
  return {
    id: message.message_id,
    conversationId: tree,
    parentId,
    timestamp,
    author: message.role,
    channel: null,
    text: message.text,
  };
}

/** The replies to a message. */
function hangReplies({ message, parentId }: Hung): Hung[] {
  const answers = findSkipReason(message) === null;
  return (message.replies ?? []).map((reply) => ({
    message: reply,
    parentId: answers ? message.message_id : parentId,
    answers,
  }));
}

/** The file of message trees. */
export interface OasstOptions {
  /** A file of message trees, `.jsonl` or `.jsonl.gz`. */
  readonly path: string;
}

/**
 * Conversation trees of OpenAssistant: a message must find the one that it answers among all earlier ones. Times are made up. See docs/datasets/oasst.md.
 *
 * @throws ValidationError for a line without a tree, and if no query is left; StorageError if the file cannot be read.
 */
export async function loadOasst(
  { path }: OasstOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const counts = new Counts();
  const trees = await readTrees(path, progress);
  counts.add('trees', trees.length);
  const read = buildOasstTurns(trees, counts);
  await letEventsIn();
  const corpus = new Corpus(read.map(({ turn }) => turn));
  const devConversations = chooseDevTrees(corpus);
  const queries = buildOasstQueries(read, devConversations);
  if (queries.length === 0)
    throw new ValidationError(`no message answers another in: ${path}; name a file of message trees`, { path });
  countResult(corpus, queries, counts);
  const hash = await finishStepsWithBreaks(computeHashInSteps({ turns: corpus.turns, queries }), () => {});
  return displayDataset({
    name: 'oasst',
    declaration: {
      task: 'a message of a prompter or an assistant must find the one that it answers among all earlier ones',
      features: ['text', 'order within a tree (times are made up from it)', 'author (role)', 'earlier reply links'],
      licence: OASST_LICENCE,
      times: 'order',
    },
    corpus,
    queries,
    qrels: new ReplyJudgements(corpus, queries),
    relevantGrade: PARENT,
    gradeNames: GRADE_NAMES,
    devConversations,
    facts: counts.toFacts(),
    hash,
  });
}

/** The trees of a file, a JSON object a line; empty lines don't count. */
async function readTrees(path: string, progress: StartProgress): Promise<OasstTree[]> {
  const stage = progress(`bytes of ${basename(path)}`, statSize(path));
  const breakNow = createEventBreaks();
  const trees: OasstTree[] = [];
  for await (const { text, where } of streamLines(readParts(path, stage), path)) {
    if (text.trim() !== '') trees.push(parseOasst(text, where));
    await breakNow();
  }
  stage.finish(`${trees.length} trees`);
  return trees;
}

function statSize(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}

/** The bytes of a file, unpacked if it ends in .gz. */
async function* readParts(path: string, stage: Progress): AsyncGenerator<Uint8Array> {
  const isPacked = path.endsWith('.gz');
  let length = 0;
  try {
    for await (const part of isPacked ? unpackGzip(path) : createReadStream(path)) {
      length += (part as Uint8Array).length;
      refuseLargeFile(length, path);
      if (!isPacked) stage.update(length);
      yield part as Uint8Array;
    }
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    if (!isPacked) throw new StorageError('read', path, { cause: error });
    throw new StorageError('decompress', path, { cause: error, remedy: 'download the file again' });
  }
}

/** The first 70 % of the trees, in the order of the file. */
function chooseDevTrees(corpus: Corpus): Set<string> {
  const starts = corpus.conversations.map(({ id, turns }) => ({ id, timestamp: (turns[0] as Turn).timestamp }));
  const first = findTestStart(starts);
  return new Set(starts.filter((start) => isDev(start, first)).map(({ id }) => id));
}

function buildOasstQueries(read: readonly OasstTurn[], devConversations: ReadonlySet<string>): Query[] {
  return read
    .filter(({ answers }) => answers)
    .map(({ turn }) => {
      const { conversationId } = turn;
      return replyQuery(turn, devConversations.has(conversationId) ? 'dev' : 'test', conversationId);
    });
}

function countResult(corpus: Corpus, queries: readonly Query[], counts: Counts): void {
  countUndecodable(corpus.turns, counts);
  counts.add('messages', corpus.size);
  for (const role of ['prompter', 'assistant'])
    counts.add(`messages, ${role}`, corpus.turns.filter(({ author }) => author === role).length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
}
