import { ValidationError } from '../../core/errors/errors.ts';
import { readBytes } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { type LoadDataset, R_MAILING_LIST_LICENCE, type RMailingListOptions } from '../prepared/datasets.ts';
import { listFilesAt } from './mail-archive.ts';
import { assertAsks, loadMailThreads } from './mail-dataset.ts';
import { readMailTable } from './mail-table.ts';

/**
 * A mailing list of the archive r-mailing-lists: a reply without its quotes must find the mail that it answers among
 * all strictly earlier mails. See docs/datasets/r-mailing-list.md.
 *
 * @throws ValidationError without a mail or a reply that can be a query; StorageError for a file that cannot be read or
 * decoded; ChecksumMismatchError for a damaged cache file.
 */
export const loadRMailingList: LoadDataset<RMailingListOptions> = async (
  { path, split },
  { cacheFolder, progress = ignoreProgress },
) => {
  const files = listFilesAt(path).filter((file) => file.endsWith('.parquet'));
  const mails = (await Promise.all(files.map(readMailTable))).flat();
  if (mails.length === 0)
    throw new ValidationError(`no mail in: ${path}; name a .parquet file of the archive, or a folder of such files`, {
      path,
    });
  const source = {
    name: 'r-mailing-list',
    licence: R_MAILING_LIST_LICENCE,
    identity: { files: files.map((file) => computeHash(readBytes(file))), split },
    mails: () => mails,
    split,
  };
  return assertAsks(await loadMailThreads(source, cacheFolder, progress), path);
};
