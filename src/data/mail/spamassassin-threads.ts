import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import { type DatasetContext, SPAM_ASSASSIN_LICENCE } from '../prepared/datasets.ts';
import { findMailArchive, readHamMails } from './mail-archive.ts';
import { loadMailThreads } from './mail-dataset.ts';

/** Where prepared mails are kept; null keeps nothing. */
export interface SpamAssassinOptions {
  /** Where prepared rows are cached between runs; null prepares them each time. */
  readonly cacheFolder: string | null;
}

/**
 * Real mail threads of 2002: a reply without its quotes must find the mail that it answers among all strictly earlier ones. See
 * docs/datasets/spamassassin-threads.md.
 *
 * @throws UnavailableError if the package is not installed; ChecksumMismatchError for a damaged cache file; StorageError if files cannot be read or written.
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
