import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** A question mark that ends a sentence; one inside an address such as `x.org/?id=7` does not. */
const ASKS = /\s(?<=\?[?!"')\]]*\s)|$(?<=\?[?!"')\]]*)/;

/** True if a message asks a question; reports separate questions and statements. */
export function classifyQuery(text: string): 'question' | 'statement' {
  return ASKS.test(text) ? 'question' : 'statement';
}

export function replyQueryId(turnId: string): string {
  return `q-${turnId}`;
}

/** The query of a turn for the turn that it answers. @param cluster the unit of resampling */
export function replyQuery(
  { id, text, timestamp, author, channel }: Turn,
  split: Query['split'],
  cluster: string,
): Query {
  return {
    id: replyQueryId(id),
    turnId: id,
    text,
    timestamp,
    anchorTurnId: null,
    author,
    channel,
    kind: classifyQuery(text),
    split,
    cluster,
  };
}
