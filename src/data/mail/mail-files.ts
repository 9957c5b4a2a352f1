import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../core/errors/errors.ts';
import { readBytes } from '../../core/files/files.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { isMbox, splitMbox, unquoteFromLines } from './mbox.ts';
import { createRawMail, type RawMail } from './read-mails.ts';

/**
 * The mails of a file, or of all files of a folder and its folders, in the order of their paths. A file that begins with an envelope line is a mailbox (mbox) of
 * many mails, any other is one mail (RFC 5322).
 *
 * @throws StorageError if a file cannot be read.
 */
export function readMailsAt(path: string): RawMail[] {
  return listFilesAt(path).flatMap((file) => {
    const bytes = readBytes(file);
    if (!isMbox(bytes)) return [createRawMail(() => bytes)];
    return splitMbox(bytes).map((mail) => createRawMail(() => unquoteFromLines(mail)));
  });
}

/** A file itself, or the files of a folder and its folders, in the order of their paths. @throws StorageError. */
export function listFilesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort(compareBytes);
    return names.map((name) => join(path, name)).filter((file) => statSync(file).isFile());
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}
