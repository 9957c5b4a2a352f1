import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../../core/errors/errors.ts';
import { writeAtomic } from '../../../core/files/files.ts';
import { PRIVATE_MODE, readPrivateFile } from '../../../core/files/private-file.ts';

/** The file with the key, in the folder of its log. */
const FILE = 'key';
const KEY_BYTES = 32;
const KEY = new RegExp(`^[0-9a-f]{${2 * KEY_BYTES}}$`);
/** Hex digits of a hash: 128 bits. */
const HASH_DIGITS = 32;

/** What is hashed: the same text has another hash as another thing. */
export type HashedThing = 'query' | 'session' | 'memory';

/** HMAC-SHA-256 of a text under the key of a log, cut to 128 bits in hex. */
export type HashText = (thing: HashedThing, text: string) => string;

/**
 * The hash under the key of a log. A log without entries gets a key, drawn by the system, in a file with mode 0600.
 *
 * @param entries of the log: those of a lost key can no longer be read.
 * @throws StorageError for a file that others may read; ValidationError for a missing key of a log with entries, and for another content.
 */
export function openLogKey(folder: string, entries: number): HashText {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    if (entries > 0)
      throw new ValidationError(`key of a log with ${entries} entries is missing: ${path}; restore it from a copy`, {
        path,
      });
    writeAtomic(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`, PRIVATE_MODE);
  }
  const text = readPrivateFile(path, 'restore it from a copy').trim();
  if (!KEY.test(text))
    throw new ValidationError(`key of a log is not ${2 * KEY_BYTES} hex digits: ${path}; restore it from a copy`, {
      path,
    });
  const key = Buffer.from(text, 'hex');
  return (thing, value) => createHmac('sha256', key).update(`${thing}\0${value}`).digest('hex').slice(0, HASH_DIGITS);
}
