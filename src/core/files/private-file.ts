import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { StorageError } from '../errors/errors.ts';

const PERMISSIONS = 0o777;
/** The permissions of a file with keys as it is written: no one but the owner reads it. */
export const PRIVATE_MODE = 0o600;
/** Permissions under which no one but the owner reads a file. */
const ALLOWED: readonly number[] = [PRIVATE_MODE, 0o400];

/**
 * Reads a file with keys that belongs to this user and that no one else may read (mode 0600 or 0400). It is opened once, so that the file that is read is the
 * file that was checked.
 *
 * @param remedy what to do about a file that cannot be read.
 * @throws StorageError; for other permissions it ends with `chmod 600 PATH`.
 */
export function readPrivateFile(path: string, remedy: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { mode, uid } = fstatSync(file);
    const owner = process.getuid?.() ?? uid;
    const restrict = `chmod ${PRIVATE_MODE.toString(8)} ${path}`;
    if (uid !== owner)
      throw new StorageError('use keys of another user', path, {
        remedy: `it belongs to user ${uid}, this is user ${owner}; chown ${owner} ${path}, then ${restrict}`,
      });
    const permissions = mode & PERMISSIONS;
    if (process.getuid !== undefined && !ALLOWED.includes(permissions))
      throw new StorageError(`use keys with permissions ${permissions.toString(8)}, which others may read`, path, {
        remedy: restrict,
      });
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError('read keys', path, { cause: error, remedy });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
