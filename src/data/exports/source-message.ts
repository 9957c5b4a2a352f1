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
  /** Whether the source states that it answers its parent. */
  readonly answers: boolean;
  /** Whether a person wrote it, so that it may be the query that continues a conversation. */
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
