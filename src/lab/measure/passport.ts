import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Evaluation } from '../../eval/metrics/evaluate.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
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
 * The conversations that each cluster of queries consists of: the one with the cluster's name, or else those of a
 * channel with that name and the homes of its queries.
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

/**
 * Identity of a conversation by content, since two collections may use one id for different conversations: time and
 * text of its first turn, which later turns do not change.
 */
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

export const lookSchema = z.strictObject({
  ...splitSchema.shape,
  /** The run that measured: its name and its hash, as its folder is called. */
  run: z.string(),
  commit: z.string(),
  backend: z.string(),
  command: z.string(),
  /** The features that the signals of tested weights may use. */
  features: z.array(z.string()).optional(),
  /** For people to read. */
  note: z.string().optional(),
});
/** Once that figures of a test split were computed. The same run measured again is the same look. */
export type TestLook = z.output<typeof lookSchema>;

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

/** The definition of a token, as passports state it. */
export const TOKENS = 'lower-cased Unicode words, as the bm25 index has them';

const countsOf = new WeakMap<Corpus, Map<string, number>>();
const tokenise = createTokeniser({ dropStopWords: false, stem: false });

/** The number of words of a turn; each text is read once. */
export function createTokenCounter(corpus: Corpus): (turnId: string) => number {
  let counts = countsOf.get(corpus);
  if (counts === undefined) {
    counts = new Map();
    countsOf.set(corpus, counts);
  }
  const known = counts;
  return (turnId) => getOrCompute(known, turnId, () => countTokens(corpus.getTurn(turnId).text));
}

/** The number of tokens of a text: lower-cased Unicode words, as BM25 has them. */
export function countTokens(text: string): number {
  return tokenise(text).length;
}

/** The unit of a hit: a relevant turn itself, or any turn of its session or conversation. */
export type Granularity = 'turn' | 'session' | 'conversation';

/** The exact definition of a metric's figures: figures with different passports must not be compared. */
export interface MetricPassport {
  readonly metric: string;
  readonly definition: string;
  /** The order of equal scores. */
  readonly ties: string;
  readonly granularity: Granularity;
  readonly cutoff: number | null;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** True if unjudged documents were removed from the rankings first. */
  readonly judgedOnly: boolean;
  readonly dataHash: string;
  /** Share of judged documents among the first k of the rankings, k being the cut-off or the end of the budget, or 10 without one; over arms and queries. 1 without rankings. */
  readonly judgedAt: number;
  /** Queries that the figure is over. */
  readonly queries: number;
  /** Queries without a relevant document. */
  readonly unanswerable: number;
  /** True if those count with the value 0, or are excluded. */
  readonly unanswerableAre: 'counted' | 'apart';
  /** What a token is, of a metric with a token budget. */
  readonly tokens?: string;
  /** The highest grade of the scale, of a metric that depends on it. */
  readonly highestGrade?: number;
}

/** The part of a passport that describes the judgements, not the metric. */
export type PassportFacts = Pick<
  MetricPassport,
  'granularity' | 'relevantGrade' | 'judgedOnly' | 'dataHash' | 'unanswerableAre'
> & {
  /** The highest grade of the data's scale. */
  readonly findHighestGrade?: () => number;
};

const TIES = 'score descending, then document id descending by bytes, as trec_eval orders them';

/** The passport of one metric. @param evaluations of all arms over the same queries; at least one. */
export function buildPassport(
  metric: string,
  evaluations: readonly Evaluation[],
  { granularity, relevantGrade, judgedOnly, dataHash, unanswerableAre, findHighestGrade }: PassportFacts,
): MetricPassport {
  const { definition, cutoff, tokenBudget, readsScale, relevantGrade: ownGrade } = parseMetric(metric);
  const [{ queryIds, unanswerable }] = evaluations as [Evaluation];
  let retrieved = 0;
  let judged = 0;
  for (const { coverage } of evaluations)
    for (const query of coverage[metric] as Evaluation['coverage'][string]) {
      retrieved += query.retrieved;
      judged += query.judged;
    }
  return {
    metric,
    definition,
    ties: TIES,
    granularity,
    cutoff,
    relevantGrade: ownGrade ?? relevantGrade,
    judgedOnly,
    dataHash,
    judgedAt: retrieved === 0 ? 1 : judged / retrieved,
    queries: queryIds.length,
    unanswerable: unanswerable.length,
    unanswerableAre,
    ...(tokenBudget === null ? {} : { tokens: TOKENS }),
    ...(readsScale && findHighestGrade !== undefined ? { highestGrade: findHighestGrade() } : {}),
  };
}

/** The parts of a result that tell whose look it was. */
interface LookedAt {
  readonly name: string;
  readonly hash: string;
  readonly environment: { readonly commit: string; readonly backend: string; readonly command: string };
}

/** The look of a result at a test split; null if no test query was measured. */
export function describeLook(
  dataset: Dataset,
  measured: readonly Query[],
  { name, hash, environment: { commit, backend, command } }: LookedAt,
): TestLook | null {
  const split = describeTestSplit(dataset, measured);
  return split && { ...split, run: `${name}-${hash}`, commit, backend, command };
}
