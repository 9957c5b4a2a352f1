import { z } from 'zod';
import { computeHashOfParts } from '../hash/hash.ts';

/**
 * An entry and the history that ends with it: its number, and the running hash of all entries up to it. After a loss
 * a number may be given again, to an entry with another hash. What is derived from a journal keeps the position up to
 * which it goes, and is used only if the journal has that position.
 */
export const journalPosition = z.strictObject({
  sequence: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{32}$/),
});
export type JournalPosition = Readonly<z.output<typeof journalPosition>>;

/** Before the first entry. */
export const JOURNAL_START: JournalPosition = { sequence: 0, hash: '0'.repeat(32) };

/** The running hash after entries that cannot be read. */
export const UNKNOWN_HASH = '';

/** The bytes of an entry, in parts. */
export type Payload = readonly Uint8Array[];

/** The running hash after one more entry: half of a SHA-256. */
export function extendHash(hash: string, payload: Payload): string {
  return computeHashOfParts([Buffer.from(hash), ...payload]).slice(0, JOURNAL_START.hash.length);
}

export function isSamePosition(a: JournalPosition, b: JournalPosition): boolean {
  return a.sequence === b.sequence && a.hash === b.hash;
}
