import { createRandom } from '../../core/numbers/random.ts';
import type { Query } from '../../model/dataset.ts';

/**
 * A share of the conversations, at least one; a smaller share of the same conversations is within a larger one.
 *
 * @param labels the conversation of each query.
 * @param share in (0, 1].
 */
export function drawConversations(labels: readonly string[], share: number, seed: number): ReadonlySet<string> {
  const shuffled = createRandom(seed, 'conversation-sample').shuffle([...new Set(labels)]);
  return new Set(shuffled.slice(0, Math.ceil(shuffled.length * share)));
}

/** A limited number of queries comes from at least 20 conversations, if the data has 20: intervals over fewer are wide. */
const CONVERSATIONS = 20;

/**
 * Some of the queries, from conversations that are drawn by the seed. A conversation is taken whole, unless it has more than a twentieth of the limit: then a
 * twentieth of the limit is drawn from it. The last conversation is cut at the limit. Where all conversations together give too few, further rounds take more.
 *
 * @param limit null for all queries.
 * @returns in the order of `queries`.
 */
export function sampleConversationQueries(
  queries: readonly Query[],
  limit: number | null,
  seed: number,
): readonly Query[] {
  if (limit === null || queries.length <= limit) return queries;
  const source = createRandom(seed, 'limited-queries');
  const byConversation = new Map<string, Query[]>(queries.map(({ cluster }) => [cluster, []]));
  for (const query of queries) byConversation.get(query.cluster)?.push(query);
  const drawn = source.shuffle([...byConversation.values()]).map((own) => source.shuffle(own));
  const share = Math.max(1, Math.floor(limit / CONVERSATIONS));
  const kept = new Set<Query>();
  for (let first = 0; kept.size < limit; first += share)
    for (const own of drawn)
      for (const query of own.slice(first, first + share)) if (kept.size < limit) kept.add(query);
  return queries.filter((query) => kept.has(query));
}
