import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ChecksumMismatchError } from '../core/errors.ts';
import { assertNoLink, assertWritableFolder, readText, writeAtomic } from '../core/files.ts';
import { hashOf } from '../core/hash.ts';
import type { Prepared } from './prepared.ts';

const REMEDY = 'delete it, the next run prepares it anew';
const PARTS = ['turns', 'queries', 'qrels', 'devConversations'] as const;

/** Writes a row a line, `[part, row]`, and a last line with the SHA-256 of all the others. */
export function writePrepared(path: string, prepared: Prepared): void {
  const rows: unknown[] = [['facts', prepared.facts]];
  for (const part of PARTS) for (const row of prepared[part]) rows.push([part, row]);
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeAtomic(path, `${body}${JSON.stringify(['sha256', hashOf(body)])}\n`);
}

/**
 * @returns null where there is no such file, which is then to be prepared and written.
 * @throws ChecksumMismatchError for a file that is cut short or altered; StorageError for a link, and where a missing file could not be written.
 */
export function readPrepared(path: string): Prepared | null {
  assertNoLink(path, dirname(dirname(path)));
  if (!existsSync(path)) {
    assertWritableFolder(dirname(path));
    return null;
  }
  const content = readText(path);
  const end = content.lastIndexOf('\n', content.length - 2) + 1;
  const body = content.slice(0, end);
  const expected = `${JSON.stringify(['sha256', hashOf(body)])}\n`;
  if (content.slice(end) !== expected)
    throw new ChecksumMismatchError(path, 'its last line is not the checksum of the others', REMEDY);
  return rowsOf(body);
}

function rowsOf(body: string): Prepared {
  const rows: Record<string, unknown[]> = { facts: [] };
  for (const part of PARTS) rows[part] = [];
  for (const line of body.split('\n')) {
    if (line === '') continue;
    const [part, row] = JSON.parse(line) as [string, unknown];
    rows[part]?.push(row);
  }
  const { facts, ...parts } = rows;
  return { ...parts, facts: facts?.[0] } as unknown as Prepared;
}
