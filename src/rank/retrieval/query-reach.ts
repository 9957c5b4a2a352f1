import type { Query } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { listAskedConversations } from '../signals/subcorpus.ts';

/** Up to where queries can look back: in the whole corpus, and in conversations that are asked alone. */
export interface QueryReach {
  /** Of the queries that ask the whole corpus: turns at positions below may answer one of them. */
  readonly corpus: number;
  /** Place of a conversation in `corpus.conversations`, and the position that limits its turns; those that reach further than `corpus`, by place. */
  readonly conversations: readonly (readonly [conversation: number, limit: number])[];
}

/** How far back from which positions some queries can look: nothing else of the corpus has an influence on what they find. */
export function computeQueryReach(corpus: Corpus, queries: readonly Query[]): QueryReach {
  const limits = new Map<number, number>();
  const raise = (conversation: number, cutoff: number) =>
    limits.set(conversation, Math.max(limits.get(conversation) ?? 0, cutoff));
  const asked = listAskedConversations(corpus, queries);
  for (const [queryIndex, { timestamp, anchorTurnId }] of queries.entries()) {
    const cutoff = corpus.countEarlierTurns(timestamp);
    raise(asked[queryIndex] as number, cutoff);
    if (anchorTurnId !== null) raise(corpus.conversationOf[corpus.getPosition(anchorTurnId)] as number, cutoff);
  }
  const whole = limits.get(-1) ?? 0;
  const conversations = [...limits].filter(([queryIndex, limit]) => queryIndex >= 0 && limit > whole);
  return { corpus: whole, conversations: conversations.sort(([a], [b]) => a - b) };
}

/** The positions of the turns within reach, ascending. */
export function listTurnsWithin(corpus: Corpus, { corpus: whole, conversations }: QueryReach): ReadonlySet<number> {
  const positions = new Set<number>();
  for (let position = 0; position < whole; position++) positions.add(position);
  if (conversations.length === 0) return positions;
  const limits = new Map(conversations);
  for (let position = whole; position < corpus.size; position++) {
    const limit = limits.get(corpus.conversationOf[position] as number);
    if (limit !== undefined && position < limit) positions.add(position);
  }
  return positions;
}
