import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** A dataset of replies as plain rows, as they are cached on disk. Its judgements follow from the trees of the turns. */
export interface Prepared {
  readonly turns: readonly Turn[];
  readonly queries: readonly Query[];
  readonly devConversations: readonly string[];
  readonly facts: Readonly<Record<string, number>>;
}

export interface Judgement {
  readonly queryId: string;
  readonly turnId: string;
  readonly grade: number;
}

/** The judgements by query, in the order of the queries. */
export function groupJudgements(
  queries: readonly Query[],
  judgements: readonly Judgement[],
): Map<string, Map<string, number>> {
  const qrels = new Map<string, Map<string, number>>(queries.map((query) => [query.id, new Map()]));
  for (const { queryId, turnId, grade } of judgements) qrels.get(queryId)?.set(turnId, grade);
  return qrels;
}
