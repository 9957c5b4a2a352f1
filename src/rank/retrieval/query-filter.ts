import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Query } from '../../model/dataset.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import { type FilterSubject, type FilterVariables, listFilterVariables } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { World } from '../signals/signal.ts';

/** The turns of the query's channel. */
export const SAME_CHANNEL = 'channel = $query.channel';

type Accepts = (subject: FilterSubject) => boolean;

/** What `$query` names: the attributes of a query, and the fields that exist when it is asked. */
export function listQueryVariables(query: Query): FilterVariables {
  const { id, author, channel, timestamp, conversationId, attributes } = query;
  return { ...attributes, id, author, channel, timestamp, conversationId: conversationId ?? null };
}

/** [Q] a filter bound to each query; queries with equal values of its variables share one function. */
function bindFilterToQueries(text: string, queries: readonly Query[]): Accepts[] {
  const tree = parseFilter(text);
  const names = listFilterVariables(tree);
  const bound = new Map<string, Accepts>();
  return queries.map((query) => {
    const variables = listQueryVariables(query);
    const key = computeHash(names.map((name) => (Object.hasOwn(variables, name) ? variables[name] : null)));
    return getOrCompute(bound, key, () => bindFilter(tree, variables));
  });
}

/** True if every filter of a list accepts a turn for a query; their texts are read once. */
export function createPoolFilter(
  filters: readonly string[],
  { corpus, queries }: Pick<World, 'corpus' | 'queries'>,
): (query: number, position: number) => boolean {
  const bound = filters.map((text) => bindFilterToQueries(text, queries));
  return (query, position) => {
    const turn = corpus.turns[position];
    return turn !== undefined && bound.every((accepts) => (accepts[query] as Accepts)(turn));
  };
}

/**
 * [Q] the positions that a filter accepts for each query, ascending. Queries with equal values of its variables share one
 * list. A filter that compares with `$query.timestamp` or `$query.id` has a list for each query, up to 4 N bytes each.
 */
export function listVisibleTurns(text: string, { corpus, queries }: Pick<World, 'corpus' | 'queries'>): Int32Array[] {
  const lists = new Map<Accepts, Int32Array>();
  return bindFilterToQueries(text, queries).map((accepts) =>
    getOrCompute(lists, accepts, () => {
      const positions: number[] = [];
      for (const [position, turn] of corpus.turns.entries()) if (accepts(turn)) positions.push(position);
      return Int32Array.from(positions);
    }),
  );
}
