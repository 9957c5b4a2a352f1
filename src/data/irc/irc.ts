import { computeHashInSteps } from '../../core/hash/hash.ts';
import { finishStepsWithBreaks, ignoreProgress } from '../../core/terminal/progress.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { Counts } from '../prepared/counts.ts';
import type { DatasetContext } from '../prepared/dataset-definition.ts';
import { displayDataset } from '../prepared/dataset-display.ts';
import { IRC_LICENCE } from '../prepared/datasets.ts';
import { GRADE_NAMES, PARENT } from '../prepared/judgements.ts';
import { groupJudgements } from '../prepared/prepared.ts';
import { countUndecodable } from '../prepared/undecodable.ts';
import { readIrcFiles } from './irc-files.ts';
import { buildIrcTurns } from './irc-turns.ts';

/** The folder with the parts of the IRC logs. */
export interface IrcOptions {
  /** The folder that holds `train`, and `dev` or `test` or both, with `.ascii.txt` and `.annotation.txt` files. */
  readonly path: string;
}

/**
 * Ubuntu's IRC channel with links from each message to those that it answers: a message must find them in the log before it. See docs/datasets/irc.md.
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
