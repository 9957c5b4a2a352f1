import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { classifyQuery } from './query-kind.ts';

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
