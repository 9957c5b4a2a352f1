import type { Query } from '../../model/dataset.ts';
import type { TextOwner } from '../../model/encoder.ts';
import { isSensitive } from '../../model/turns/attributes.ts';
import type { Turn } from '../../model/turns/turn.ts';

const mark = (sensitive: boolean) => (sensitive ? { sensitive } : {});

/**
 * Whose texts an encoder gets: the turns, then the queries. A query is sensitive by its attribute, or if the turn that it is has the attribute.
 *
 * @param turns those to embed; @param corpus all turns, which queries may be.
 */
export function listTextOwners(
  turns: readonly Turn[],
  queries: readonly Query[],
  corpus: { readonly turns: readonly Turn[] },
): TextOwner[] {
  const sensitive = new Set(corpus.turns.filter(isSensitive).map(({ id }) => id));
  return [
    ...turns.map(({ id }) => ({ kind: 'turn' as const, id, ...mark(sensitive.has(id)) })),
    ...queries.map((query) => ({
      kind: 'query' as const,
      id: query.id,
      ...mark(isSensitive(query) || (query.turnId !== undefined && sensitive.has(query.turnId))),
    })),
  ];
}
