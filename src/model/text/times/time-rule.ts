import type { Cycle, TimeMention } from './calendar.ts';

/** The moment of a text, and whether the text looks ahead. */
export interface TimeContext {
  readonly now: number;
  readonly future: boolean;
}

/** A time that a text names, before words such as `since` and `between` are read. */
export interface TimeAtom extends TimeMention {
  /** Given for a name without its year, such as `May`: the range is one of many. */
  readonly cycle?: Cycle | undefined;
  /** A word that names a time only beside another one: `March` of `between March and May`. */
  readonly weak?: boolean | undefined;
}

/** The named groups of a match. */
export type Groups = Readonly<Record<string, string | undefined>>;
/** What a match means; null for no time. */
export type Reading = Pick<TimeAtom, 'range' | 'cycle' | 'weak'> | null;

/**
 * An expression and what its matches mean. Its source is matched between word boundaries.
 *
 * `before` is the text directly before the match, at most 24 characters.
 */
export type TimeRule = readonly [
  source: string,
  read: (groups: Groups, context: TimeContext, before: string) => Reading,
];
