import { random } from '../core/random.ts';
import type { Query } from '../model/dataset.ts';

/**
 * A share of the conversations, at least one; a smaller share of the same conversations is within a larger one.
 *
 * @param labels the conversation of each query.
 * @param share in (0, 1].
 */
export function sampleConversations(labels: readonly string[], share: number, seed: number): ReadonlySet<string> {
  const shuffled = random(seed, 'conversation-sample').shuffle([...new Set(labels)]);
  return new Set(shuffled.slice(0, Math.ceil(shuffled.length * share)));
}

/** Conversations that a limited number of queries should come from at least, where there are so many: intervals over fewer are wide. */
const CONVERSATIONS = 20;

/**
 * Some of the queries, from conversations that are drawn by the seed. Conversations are taken whole, but for the last one and for one with more than a twentieth
 * of the limit: of that one so many queries are drawn. Where all conversations together don't reach the limit by then, further rounds over them do.
 *
 * @param limit null for all queries.
 * @returns in the order of `queries`.
 */
export function limitedQueries(queries: readonly Query[], limit: number | null, seed: number): readonly Query[] {
  if (limit === null || queries.length <= limit) return queries;
  const source = random(seed, 'limited-queries');
  const byConversation = new Map<string, Query[]>(queries.map(({ cluster }) => [cluster, []]));
  for (const query of queries) byConversation.get(query.cluster)?.push(query);
  const drawn = source.shuffle([...byConversation.values()]).map((own) => source.shuffle(own));
  const share = Math.ceil(limit / CONVERSATIONS);
  const kept = new Set<Query>();
  for (let first = 0; kept.size < limit; first += share)
    for (const own of drawn)
      for (const query of own.slice(first, first + share)) if (kept.size < limit) kept.add(query);
  return queries.filter((query) => kept.has(query));
}
