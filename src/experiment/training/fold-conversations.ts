import type { Dataset, Query } from '../../model/dataset.ts';

/** The conversation that a query asks or stands in; where neither is known, those of the turns that answer it. */
function homesOf({ corpus, qrels }: Dataset, { id, conversationId, turnId, anchorTurnId }: Query): string[] {
  const home = (turn: string) => corpus.turn(turn).conversationId;
  const known = [...(conversationId === undefined ? [] : [conversationId])];
  for (const turn of [turnId ?? null, anchorTurnId]) if (turn !== null) known.push(home(turn));
  return known.length > 0 ? known : [...(qrels.get(id)?.keys() ?? [])].map(home);
}

/** The conversations that clusters of queries consist of: those with a cluster's name, or else of a channel with that name, and the homes of its queries. */
export function conversationsOf(dataset: Dataset, clusters: Iterable<string>): Set<string> {
  const wanted = new Set(clusters);
  const found = new Set<string>();
  for (const { id, turns } of dataset.corpus.conversations)
    if (wanted.has(id) || turns.some(({ channel }) => channel !== null && wanted.has(channel))) found.add(id);
  const isNamed = (cluster: string) => found.has(cluster);
  for (const query of dataset.queries)
    if (wanted.has(query.cluster) && !isNamed(query.cluster))
      for (const home of homesOf(dataset, query)) found.add(home);
  return found;
}

/** What encoders may be fitted on while some clusters are held out. */
export function conversationsWithout(dataset: Dataset, heldOut: Iterable<string>): Set<string> {
  const excluded = conversationsOf(dataset, heldOut);
  return new Set([...dataset.devConversations].filter((id) => !excluded.has(id)));
}
