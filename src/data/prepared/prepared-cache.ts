import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { assertNoLink, assertWritableFolder, readBytes, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Prepared } from './prepared.ts';

const REMEDY = 'delete the file and run again to prepare the data';
const PARTS = ['turns', 'queries', 'devConversations'] as const;
const LINE_FEED = 0x0a;

/** Writes a row a line, `[part, row]`, and a last line with the SHA-256 of all the others. As bytes: the rows may be longer together than a string can be. */
export function writePrepared(path: string, prepared: Prepared): void {
  const lines = [encodeJsonLine(['facts', prepared.facts])];
  for (const part of PARTS) for (const row of prepared[part]) lines.push(encodeJsonLine([part, row]));
  const body = Buffer.concat(lines);
  writeAtomic(path, Buffer.concat([body, encodeChecksumLine(body)]));
}

function encodeJsonLine(row: readonly unknown[]): Buffer {
  return Buffer.from(`${JSON.stringify(row)}\n`);
}

function encodeChecksumLine(body: Uint8Array): Buffer {
  return encodeJsonLine(['sha256', computeHash(body)]);
}

/**
 * @returns null if the file does not exist; the data is then prepared and written.
 * @throws ChecksumMismatchError for a truncated or altered file; StorageError for a link, and if a missing file could not be written.
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
