import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChecksumMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { assertNoLink, assertWritableFolder, readBytes, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import {
  type DatasetContext,
  type LoadDataset,
  type MailOptions,
  SPAM_ASSASSIN_LICENCE,
} from '../prepared/datasets.ts';
import { displayDataset, GRADE_NAMES, PARENT, type Prepared } from '../prepared/prepared.ts';
import { ReplyJudgements } from '../prepared/reply-judgements.ts';
import { findMailArchive, readHamMails, readMailsAt } from './mail-archive.ts';
import { type MailSplit, PREPARATION_VERSION, prepareMails } from './mail-preparation.ts';
import type { SourceMail } from './read-mails.ts';

const REMEDY = 'delete the file and run again to prepare the data';
const PARTS = ['turns', 'queries', 'devConversations'] as const;
const LINE_FEED = 0x0a;

/**
 * Writes a row a line, `[part, row]`, and a last line with the SHA-256 of all the others. As bytes: the rows may be
 * longer together than a string can be.
 */
export function writePrepared(path: string, prepared: Prepared): void {
  const lines = [encodeJsonLine(['facts', prepared.facts])];
  for (const part of PARTS) for (const row of prepared[part]) lines.push(encodeJsonLine([part, row]));
  const body = Buffer.concat(lines);
  writeAtomic(path, Buffer.concat([body, encodeChecksumLine(body)]), null, false);
}

function encodeJsonLine(row: readonly unknown[]): Buffer {
  return Buffer.from(`${JSON.stringify(row)}\n`);
}

function encodeChecksumLine(body: Uint8Array): Buffer {
  return encodeJsonLine(['sha256', computeHash(body)]);
}

/**
 * @returns null if the file does not exist; the data is then prepared and written.
 * @throws ChecksumMismatchError for a truncated or altered file; StorageError for a link, and if a missing file could
 *   not be written.
 */
export function readPrepared(path: string): Prepared | null {
  assertNoLink(path, dirname(dirname(path)));
  if (!existsSync(path)) {
    assertWritableFolder(dirname(path));
    return null;
  }
  const content = Buffer.from(readBytes(path));
  const end = content.length < 2 ? 0 : content.lastIndexOf(LINE_FEED, content.length - 2) + 1;
  const body = content.subarray(0, end);
  if (!content.subarray(end).equals(encodeChecksumLine(body)))
    throw new ChecksumMismatchError(path, 'its last line is not the checksum of the others', REMEDY);
  return parsePreparedRows(body);
}

function parsePreparedRows(body: Buffer): Prepared {
  const rows: Record<string, unknown[]> = { facts: [] };
  for (const part of PARTS) rows[part] = [];
  for (let start = 0; start < body.length; ) {
    const end = body.indexOf(LINE_FEED, start);
    const [part, row] = JSON.parse(body.toString('utf8', start, end)) as [string, unknown];
    rows[part]?.push(row);
    start = end + 1;
  }
  const { facts, ...parts } = rows;
  return { ...parts, facts: facts?.[0] } as unknown as Prepared;
}

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
 * Mail threads, prepared by the steps of docs/datasets/spamassassin-threads.md: a reply without its quotes must find
 * the mail that it answers.
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

/** The folder of prepared mails; null keeps nothing. */
export interface SpamAssassinOptions {
  /** The folder that caches prepared rows between runs; null prepares them each time. */
  readonly cacheFolder: string | null;
}

/**
 * Real mail threads of 2002: a reply without its quotes must find the mail that it answers among all strictly earlier
 * ones. See docs/datasets/spamassassin-threads.md.
 *
 * @throws UnavailableError if the package is not installed; ChecksumMismatchError for a damaged cache file;
 *   StorageError if files cannot be read or written.
 */
export async function loadSpamAssassinThreads(
  options: SpamAssassinOptions,
  progress: StartProgress = ignoreProgress,
): Promise<Dataset> {
  const archive = findMailArchive();
  return loadMailThreads(
    {
      name: 'spamassassin-threads',
      licence: SPAM_ASSASSIN_LICENCE,
      identity: { package: archive.version },
      mails: () => readHamMails(archive),
      split: 'time',
    },
    options.cacheFolder,
    progress,
  );
}

export function loadMailsOf2002(_: unknown, { cacheFolder, progress }: DatasetContext): Promise<Dataset> {
  return loadSpamAssassinThreads({ cacheFolder }, progress);
}

/**
 * A mailbox or a folder of mails, how it is split into dev and test, and where prepared mails are kept; null keeps
 * nothing.
 */
export interface MailThreadsOptions {
  /** A mailbox file (mbox), or a folder of mailboxes and single mails. */
  readonly path: string;
  readonly split: MailSplit;
  /** The folder that caches prepared rows between runs; null prepares them each time. */
  readonly cacheFolder: string | null;
}

/**
 * Your own mail: a reply without its quotes must find the mail that it answers among all strictly earlier ones. See
 * docs/datasets/mail-threads.md.
 *
 * @throws ValidationError without a mail or a reply that can be a query; ChecksumMismatchError for a damaged cache
 *   file; StorageError where files can't be
 * read or written.
 */
export async function loadMailFiles(
  options: MailThreadsOptions,
  progress: StartProgress = ignoreProgress,
): Promise<Dataset> {
  const { path, split, cacheFolder } = options;
  const mails = readMailsAt(path);
  if (mails.length === 0)
    throw new ValidationError(`no mail in: ${path}; name a mailbox file or a folder of mails`, { path });
  const source = {
    name: 'mail-threads',
    licence: 'that of the mails',
    identity: { mails: computeHash(mails.map(({ read }) => computeHash(read()))), split },
    mails: () => mails,
    split,
  };
  return assertAsks(await loadMailThreads(source, cacheFolder, progress), path);
}

/**
 * The mail at a path, or the mails of 2002 where there is no path.
 *
 * @throws ValidationError for another split of the mails of 2002 than by time.
 */
export const loadMail: LoadDataset<MailOptions> = async (
  { path, split },
  { cacheFolder, progress = ignoreProgress },
) => {
  if (path !== null) return loadMailFiles({ path, split, cacheFolder }, progress);
  if (split === 'time') return loadSpamAssassinThreads({ cacheFolder }, progress);
  throw new ValidationError(`mails of 2002 are split by time, not: ${split}`, { split });
};
