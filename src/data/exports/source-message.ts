import { Pseudonyms } from '../mail/pseudonyms.ts';

/** The largest time of a JavaScript date, in milliseconds. */
const LAST_MILLISECOND = 8.64e15;

/** Milliseconds of a time in seconds since 1970, as a number or a text of one; null if it is none. */
export function parseSeconds(seconds: unknown): number | null {
  if (typeof seconds !== 'number' && (typeof seconds !== 'string' || seconds.trim() === '')) return null;
  const time = Math.round(Number(seconds) * 1000);
  return Math.abs(time) <= LAST_MILLISECOND ? time : null; // false for NaN too
}

/** Milliseconds of a date in ISO 8601; null if it is none. A date without a zone is read as UTC. */
export function parseIsoDate(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(text)) return null;
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : time;
}

/** A person as a source knows one. */
export interface Person {
  /** Empty if the source has none. */
  readonly name: string;
  /** The source's own, which no other person has. */
  readonly id: string;
}

/** Pseudonyms of the people of a source. */
interface People {
  readonly pseudonyms: Pseudonyms;
  /** For each message the label of its author, null where the source names none. */
  readonly labels: readonly (string | null)[];
}

/** Gives each author a pseudonym, in the order of their first messages. */
export function registerPeople(messages: readonly { readonly time: number; readonly author: Person | null }[]): People {
  const pseudonyms = new Pseudonyms();
  const inOrder = messages
    .map(({ time, author }, i) => ({ time, author, i }))
    .sort((a, b) => a.time - b.time || a.i - b.i);
  const labels = new Array<string | null>(messages.length).fill(null);
  for (const { author, i } of inOrder)
    if (author !== null) labels[i] = pseudonyms.registerAuthor(author.name, author.id);
  return { pseudonyms, labels };
}

/** A message as an export has it, before it is known whether it becomes a turn. */
export interface SourceMessage {
  /** Unique in its conversation. */
  readonly id: string;
  /** Null where the source knows only replies: the conversation is then the tree of replies. */
  readonly conversationId: string | null;
  /** The message above it in its tree; null for a root. A message that is not in the source counts as null. */
  readonly parentId: string | null;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** False if the source has no time for the message: `time` is then that of its conversation. */
  readonly timed: boolean;
  /** A role or a pseudonym. */
  readonly author: string | null;
  readonly channel: string | null;
  readonly text: string;
  /** A better form of the text to ask by, if the source has one. */
  readonly queryText?: string;
  /** Why it is no turn; null if it is one. */
  readonly skipped: string | null;
  /** True for a skipped message of the machinery, such as a tool's: what comes after it answers what it comes after. */
  readonly passedOver: boolean;
  /** True if the source states that it answers its parent. */
  readonly answers: boolean;
  /** True if a person wrote it, so that it may be the query that continues a conversation. */
  readonly byPerson: boolean;
  /** Why it can be no query; null if it can be one. */
  readonly notAsked: string | null;
}

/** The fields of a message that most messages share. */
export const ORDINARY = {
  timed: true,
  skipped: null,
  passedOver: false,
  answers: true,
  byPerson: true,
  notAsked: null,
} as const;
