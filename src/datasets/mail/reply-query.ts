import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turn.ts';
import { queryKind } from '../query-kind.ts';

export function replyQueryId(turnId: string): string {
  return `q-${turnId}`;
}

/** The query of a turn that looks for the one that it answers. @param cluster what it is resampled by */
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
    kind: queryKind(text),
    split,
    cluster,
  };
}
