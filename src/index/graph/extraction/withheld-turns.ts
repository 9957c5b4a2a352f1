import { isSensitive } from '../../../model/turns/attributes.ts';
import type { Turn } from '../../../model/turns/turn.ts';

/** The ids of turns that stay on this machine: those that are sensitive, and those with the text of one that is. */
export function listWithheldTurns(turns: readonly Turn[]): ReadonlySet<string> {
  const sensitive = new Set(turns.filter(isSensitive).map(({ text }) => text));
  return new Set(turns.filter(({ text }) => sensitive.has(text)).map(({ id }) => id));
}
