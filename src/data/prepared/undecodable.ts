import type { Counts } from './counts.ts';

/** The character for an undecodable byte, and half of a surrogate pair, which UTF-8 cannot encode. */
const UNDECODABLE = /[\ufffd\p{Cs}]/u;

/** Counts the texts in which something could not be read, so that it is not replaced in silence. */
export function countUndecodable(texts: Iterable<{ readonly text: string }>, counts: Counts): void {
  counts.add('texts with undecodable characters', 0);
  for (const { text } of texts) if (UNDECODABLE.test(text)) counts.add('texts with undecodable characters');
}
