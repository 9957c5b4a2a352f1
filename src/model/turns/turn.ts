import type { Attributes } from './attributes.ts';

/** One utterance of a conversation: a message, a post, a chat line. Immutable once loaded. */
export interface Turn {
  readonly id: string;
  readonly conversationId: string;
  /** The turn that this one answers, in the same conversation; null for a root. */
  readonly parentId: string | null;
  /** Milliseconds since 1970-01-01 UTC. A child is never before its parent. */
  readonly timestamp: number;
  /** A pseudonym if the source has real people. */
  readonly author: string | null;
  /** The place of the turn: a mailing list, a channel, a session. */
  readonly channel: string | null;
  readonly text: string;
  /** What else is known of the turn; absent: nothing. */
  readonly attributes?: Attributes;
}
