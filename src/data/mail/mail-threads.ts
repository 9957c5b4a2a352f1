import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { LoadDataset, MailOptions } from '../prepared/datasets.ts';
import { assertAsks, loadMailThreads } from './mail-dataset.ts';
import { readMailsAt } from './mail-files.ts';
import type { MailSplit } from './mail-preparation.ts';
import { loadSpamAssassinThreads } from './spamassassin-threads.ts';

/** A mailbox or a folder of mails, how it is split into dev and test, and where prepared mails are kept; null keeps nothing. */
export interface MailThreadsOptions {
  /** A mailbox file (mbox), or a folder of mailboxes and single mails. */
  readonly path: string;
  readonly split: MailSplit;
  /** Where prepared rows are cached between runs; null prepares them each time. */
  readonly cacheFolder: string | null;
}

/**
 * Your own mail: a reply without its quotes must find the mail that it answers among all strictly earlier ones. See docs/datasets/mail-threads.md.
 *
 * @throws ValidationError without a mail or a reply that can be a query; ChecksumMismatchError for a damaged cache file; StorageError where files can't be
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

/** The mail at a path, or the mails of 2002 where there is no path. @throws ValidationError for another split of the mails of 2002 than by time. */
export const loadMail: LoadDataset<MailOptions> = async (
  { path, split },
  { cacheFolder, progress = ignoreProgress },
) => {
  if (path !== null) return loadMailFiles({ path, split, cacheFolder }, progress);
  if (split === 'time') return loadSpamAssassinThreads({ cacheFolder }, progress);
  throw new ValidationError(`mails of 2002 are split by time, not: ${split}`, { split });
};
