import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';

/** Queries with the turns that they are about. */
export type QueriedCorpus = Pick<Dataset, 'corpus' | 'queries' | 'qrels'>;

/** The conversation that a query asks or comes from; where neither is known, those of the turns that answer it. */
function listQueryConversations(
  { corpus, qrels }: QueriedCorpus,
  { id, conversationId, turnId, anchorTurnId }: Query,
): string[] {
  const getTurnConversation = (turn: string) => corpus.getTurn(turn).conversationId;
  const known = conversationId === undefined ? [] : [conversationId];
  for (const turn of [turnId ?? null, anchorTurnId]) if (turn !== null) known.push(getTurnConversation(turn));
  return known.length > 0 ? known : [...(qrels.get(id)?.keys() ?? [])].map(getTurnConversation);
}

function groupByChannel({ turns }: Corpus): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { channel, conversationId } of turns) {
    if (channel === null) continue;
    const own = found.get(channel);
    if (own === undefined) found.set(channel, new Set([conversationId]));
    else own.add(conversationId);
  }
  return found;
}

/**
 * The conversations that each cluster of queries consists of: the one with the cluster's name, or else those of a channel with that name and the homes of its
 * queries.
 */
export function groupConversations(data: QueriedCorpus): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Set(data.corpus.conversations.map(({ id }) => id));
  const ofChannels = groupByChannel(data.corpus);
  const found = new Map<string, Set<string>>();
  for (const query of data.queries) {
    const { cluster } = query;
    let own = found.get(cluster);
    if (own === undefined) {
      own = new Set(names.has(cluster) ? [cluster] : ofChannels.get(cluster));
      found.set(cluster, own);
    }
    if (!names.has(cluster)) for (const home of listQueryConversations(data, query)) own.add(home);
  }
  return found;
}

/** The conversations that encoders may be fitted on while some clusters are held out. */
export function listUnheldConversations(dataset: Dataset, heldOut: readonly string[]): Set<string> {
  const all = groupConversations(dataset);
  const excluded = new Set(heldOut.flatMap((cluster) => [...(all.get(cluster) ?? [])]));
  return new Set([...dataset.devConversations].filter((id) => !excluded.has(id)));
}

/** Digits of a content hash that are kept: two of a million conversations have the same one in 1 of 37 million cases. */
const HASH_DIGITS = 16;

/** Identity of a conversation by content, since two collections may use one id for different conversations: time and text of its first turn, which later turns do not change. */
function computeContentHash({ turns }: Conversation): string {
  const [first] = turns;
  return computeHash([first?.timestamp, first?.text]).slice(0, HASH_DIGITS);
}

/** The content hashes of each cluster's conversations. */
export function groupContentHashes(data: QueriedCorpus): ReadonlyMap<string, readonly string[]> {
  const all = groupConversations(data);
  return new Map(
    Array.from(all, ([cluster, ids]) => [
      cluster,
      Array.from(ids, (id) => computeContentHash(data.corpus.getConversation(id))),
    ]),
  );
}

/** Digits of a hash that are kept. */
const DIGITS = 16;
/** Content hashes that are kept of a test split, the smallest ones: some remain when conversations are added. */
const KEPT_CONTENTS = 16;

export const splitSchema = z.strictObject({
  /** The name of the dataset. */
  dataset: z.string(),
  /** The hash of the data; absent for a look of which only the dataset's name is known. */
  data: z.string().optional(),
  /** Content hashes of some test conversations; without any, the dataset's name decides. */
  contents: z.array(z.string()).optional(),
  /** The measured test queries: how many, and the hash of their ids in any order. */
  queries: z.strictObject({ count: z.int().min(1), hash: z.string() }).optional(),
});
/** The identity by which looks are counted. */
export type TestSplit = z.output<typeof splitSchema>;

/** The hash of queries in any order. */
function describeQueries(ids: readonly string[]): TestSplit['queries'] {
  return { count: ids.length, hash: computeHash([...ids].sort()).slice(0, DIGITS) };
}

/** Held-out queries of data that are no dataset; null without any. */
export function describeHeldOut(name: string, dataHash: string, ids: readonly string[]): TestSplit | null {
  if (ids.length === 0) return null;
  return { dataset: name, data: dataHash.slice(0, DIGITS), contents: [], queries: describeQueries(ids) };
}

/** The test queries among those that are measured, with their split; null without any. */
export function describeTestSplit(dataset: Dataset, measured: readonly Query[]): TestSplit | null {
  const test = measured.filter(({ split }) => split === 'test');
  if (test.length === 0) return null;
  const split = dataset.queries.filter((query) => query.split === 'test');
  const contents = [...groupContentHashes({ ...dataset, queries: split }).values()].flat();
  return {
    dataset: dataset.name,
    data: dataset.hash.slice(0, DIGITS),
    contents: [...new Set(contents)].sort().slice(0, KEPT_CONTENTS),
    queries: describeQueries(test.map(({ id }) => id)),
  };
}

/** True for test splits of one dataset, of the same data or with a conversation in common. */
export function isSameSplit(a: TestSplit, b: TestSplit): boolean {
  if (a.dataset !== b.dataset) return false;
  if (a.data !== undefined && a.data === b.data) return true;
  return a.contents === undefined || b.contents === undefined || a.contents.some((hash) => b.contents?.includes(hash));
}

/** True for the same queries of the same data. */
export function isSameQuerySet(a: TestSplit, b: TestSplit): boolean {
  return a.dataset === b.dataset && a.data !== undefined && a.data === b.data && a.queries?.hash === b.queries?.hash;
}
