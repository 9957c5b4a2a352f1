import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { displayDataset } from '../prepared/dataset-display.ts';
import { GRADE_NAMES, PARENT } from '../prepared/judgements.ts';
import type { Prepared } from '../prepared/prepared.ts';
import { readPrepared, writePrepared } from '../prepared/prepared-cache.ts';
import { ReplyJudgements } from '../prepared/reply-judgements.ts';
import { type MailSplit, PREPARATION_VERSION, prepareMails } from './mail-preparation.ts';
import type { SourceMail } from './read-mails.ts';

/** Mails to make a dataset of. */
interface MailSource {
  /** The dataset's. */
  readonly name: string;
  readonly licence: string;
  /** The identity of these mails, the key of the prepared rows. */
  readonly identity: Readonly<Record<string, unknown>>;
  readonly mails: () => readonly SourceMail[];
  readonly split: MailSplit;
}

/**
 * Mail threads, prepared by the steps of docs/datasets/spamassassin-threads.md: a reply without its quotes must find the mail that it answers.
 *
 * @param cacheFolder where prepared rows are cached between runs; null prepares them each time.
 * @throws ChecksumMismatchError for a damaged cache file; StorageError where files can't be read or written.
 */
export async function loadMailThreads(
  source: MailSource,
  cacheFolder: string | null,
  progress: StartProgress,
): Promise<Dataset> {
  return buildMailDataset(source, await readOrPrepareMails(source, cacheFolder, progress));
}

/** The dataset itself, if mails of a user give a query. @throws ValidationError if not. */
export function assertAsks(dataset: Dataset, path: string): Dataset {
  if (dataset.queries.length > 0) return dataset;
  throw new ValidationError(`no reply of ten words or more to a mail of five or more in: ${path}; add mails`, {
    path,
    facts: dataset.facts,
  });
}

/** The dataset of prepared rows. */
export function buildMailDataset(
  source: Pick<MailSource, 'name' | 'licence'>,
  { turns, queries, devConversations, facts }: Prepared,
): Dataset {
  const corpus = new Corpus(turns);
  return displayDataset({
    name: source.name,
    declaration: {
      task: 'a reply, its quotes stripped, must find its parent among all strictly earlier messages',
      features: ['text', 'time', 'author (pseudonym)', 'channel (mailing list)', 'earlier reply links'],
      licence: source.licence,
    },
    corpus,
    queries,
    qrels: new ReplyJudgements(corpus, queries),
    relevantGrade: PARENT,
    gradeNames: GRADE_NAMES,
    devConversations: new Set(devConversations),
    facts,
    // Row by row: the text of all rows may be longer than a string can be.
    hash: computeHash({ turns: turns.map(computeHash), queries: queries.map(computeHash), devConversations, facts }),
  });
}

async function readOrPrepareMails(
  { name, identity, mails, split }: MailSource,
  cacheFolder: string | null,
  progress: StartProgress,
): Promise<Prepared> {
  if (cacheFolder === null) return prepareMails(mails(), split, progress);
  const key = computeHash({ ...identity, preparation: PREPARATION_VERSION }).slice(0, 16);
  const path = join(cacheFolder, `${name}-${key}.jsonl`);
  const cached = readPrepared(path);
  if (cached !== null) return cached;
  const prepared = await prepareMails(mails(), split, progress);
  writePrepared(path, prepared);
  return prepared;
}
