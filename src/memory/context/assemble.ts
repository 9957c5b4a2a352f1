import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { Bm25Index } from '../../index/words/bm25.ts';
import { createTokenCounter, TOKEN_COUNTERS } from '../../model/text/tokens.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import { reciprocalRankFusion } from '../../ops/fusion/reciprocal-rank.ts';
import { alignLists, rankFused } from '../../ops/fusion/score-columns.ts';
import { asksForTime } from '../../rank/query/classify-query.ts';
import type { ArmMemory } from './arm-source.ts';
import type { AskedFacts } from './fact-source.ts';
import {
  ASSEMBLY_STRATEGIES,
  type ContextShares,
  contextSharesSchema,
  PACKING_NAMES,
  PACKINGS,
  packInOrder,
  splitBudget,
} from './packing.ts';
import { assertMoment, formatPrompt } from './prompt.ts';
import {
  askSource,
  type ContextItem,
  type ContextSource,
  type CountedItem,
  type ItemType,
  readItemText,
  type SourceAnswer,
} from './source.ts';

/** The words of a query and of items alike: stems without stop words. */
const WORDS = { k1: 1.2, b: 0.75, variant: 'lucene', dropStopWords: true, stem: true } as const;

/**
 * Documents and memories in one order: each score is multiplied by the weight of its source. An item that both found is
 * taken once, by its better score.
 */
function mergeByWeight(
  documents: readonly ContextItem[],
  memories: readonly ContextItem[],
  weights: ContextShares,
): ContextItem[] {
  const weigh = (items: readonly ContextItem[], weight: number) =>
    items.map((item) => ({ ...item, score: item.score * weight }));
  const all = [...weigh(documents, weights.documents), ...weigh(memories, weights.memories)].sort(compareScored);
  const first = new Map<string, ContextItem>();
  for (const item of all) if (!first.has(item.id)) first.set(item.id, item);
  return [...first.values()];
}

/** [N] BM25 of items for a query, with the frequencies of words among these items. */
async function scoreWords(query: string, items: readonly ContextItem[]): Promise<Float32Array> {
  if (items.length === 0) return new Float32Array(0);
  const index = new Bm25Index(
    items.map(({ id }) => id),
    items.map(readItemText),
    WORDS,
  );
  const batch = { texts: [query], vectors: new Float32Array(0), cutoffs: Int32Array.of(items.length) };
  return index.scorePairs(batch, Int32Array.from(items.keys()), items.length);
}

/**
 * Items by their BM25 for a query; where it is equal, which it is for all without a word of the query, in their order
 * before.
 */
async function rerankByWords(query: string, items: readonly ContextItem[]): Promise<ContextItem[]> {
  const scores = await scoreWords(query, items);
  const order = [...items.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  return order.map((i) => ({ ...(items[i] as ContextItem), score: scores[i] as number }));
}

/** How a context is put together. */
export const assemblyOptionsSchema = z.strictObject({
  /** See {@link ASSEMBLY_STRATEGIES}. */
  strategy: z.enum(ASSEMBLY_STRATEGIES).default('rag'),
  /** Tokens of the whole context, without the question and the words around it. */
  budget: z.int('a whole number of tokens').min(1).default(2000),
  /** Only memories of this session; null: of all. */
  session: z.string().nullable().default(null),
  /** The shares of documents and of memories. */
  weights: contextSharesSchema.default('memory-focused'),
  /** One order over both: by the words of the question, or by the weighted scores as they are. */
  rerank: z.enum(['bm25', 'none']).default('bm25'),
  packing: z.enum(PACKING_NAMES).default('in-order'),
  /** The most items of each source; null: one for each 100 tokens of its share, and 100 records. */
  k: z.int('a whole number of items').min(1).nullable().default(null),
  tokens: z.enum(TOKEN_COUNTERS).default('characters/4'),
  /** Each source is left out if it takes longer. */
  timeoutMs: z.int().min(1).default(1000),
  /**
   * The time zone of the dates of memories, which the prompt states if the question asks for a time; null: no dates.
   */
  timeZone: z.string().nullable().default('UTC'),
  /** The prompt states of each item its id, its date and why it was found, where its source says so. */
  cite: z.boolean().default(false),
});
/** How a context is put together, see {@link assemblyOptionsSchema}. */
export type AssemblyOptions = z.output<typeof assemblyOptionsSchema>;
/** The same as one writes it: what has a default may be missing. */
export type AssemblyInput = z.input<typeof assemblyOptionsSchema>;

/** Where documents and memories come from; without documents the strategy `rag` is `hybrid`. */
export interface AssemblySources {
  readonly documents?: ContextSource;
  /** A memory that answers by an arm is read as it is when it is asked. */
  readonly memories: ContextSource | ArmMemory;
  /** Facts on two timelines, as they were known at the moment of the question: memories, fused with the others by rank. */
  readonly facts?: ContextSource | AskedFacts;
  /** Records of a database, see `createDomainSource`: packed before anything else. */
  readonly domain?: ContextSource;
}

/** What a model is shown, and why. */
export interface AssembledContext {
  readonly prompt: string;
  /** In the order of the packing; the prompt groups them by type. */
  readonly items: readonly CountedItem[];
  /** What was found and did not fit. */
  readonly left: readonly CountedItem[];
  readonly tokens: number;
  readonly budget: number;
  /** The strategy that was used: `hybrid` where `rag` has no documents. */
  readonly strategy: AssemblyOptions['strategy'];
  readonly weights: ContextShares;
  /** The time zone of the dates in the prompt; null: it has ages alone. */
  readonly datesIn: string | null;
  /** Each source that was asked, with its fault if it is left out. */
  readonly sources: readonly SourceAnswer[];
}

/** Sources as functions, also of a memory and of a store of facts. @param timeZone of the days of facts. */
export async function openSources(
  { memories, facts, ...sources }: AssemblySources,
  timeZone: string,
): Promise<Readonly<Partial<Record<keyof AssemblySources, ContextSource>>>> {
  const openMemories = async (memory: ArmMemory) => (await import('./arm-source.ts')).createArmSource(memory);
  const openFacts = async (store: AskedFacts) => (await import('./fact-source.ts')).createFactSource(store, timeZone);
  return {
    ...sources,
    memories: 'ask' in memories ? await openMemories(memories) : memories,
    ...(facts && { facts: 'neighbours' in facts ? await openFacts(facts) : facts }),
  };
}

/** Lists of items in one order, by reciprocal rank fusion; a single list that has items is as it was. */
export function fuseByRank(lists: Readonly<Record<string, readonly ContextItem[]>>): readonly ContextItem[] {
  const filled = Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0));
  const all = Object.values(filled);
  if (all.length < 2) return all[0] ?? [];
  const byId = new Map(all.flat().map((item) => [item.id, item]));
  const { ids, columns } = alignLists(filled);
  const fused = rankFused(ids, reciprocalRankFusion(columns, { k: 60, weights: {} }));
  return fused.map(({ id, score }) => ({ ...(byId.get(id) as ContextItem), score }));
}

/** Records that a database is asked for: they are short, and the budget bounds them. */
export const MOST_RECORDS = 100;

/** The memory types that a strategy shows. */
function acceptsType(strategy: AssemblyOptions['strategy'], type: ItemType): boolean {
  return strategy === 'episodic' || strategy === 'semantic' ? type === strategy : true;
}

/**
 * From a question to a context: documents and memories are asked in parallel for the share of the budget that each has,
 * merged by weight, put into one order, and packed into the budget. A source that fails or is late is left out and
 * named in `sources`.
 *
 * @param now the moment of the question in milliseconds since 1970.
 * @throws ConfigurationError for options that break the schema, such as an empty question or weights whose sum is not
 *   1; ValidationError for a `now` that is no time; the reason of the signal.
 */
export async function assemble(
  query: string,
  input: AssemblyInput,
  sources: AssemblySources,
  { now, signal }: { readonly now: number; readonly signal?: AbortSignal },
): Promise<AssembledContext> {
  const options = parse(assemblyOptionsSchema, input, 'options of a context');
  const question = parse(z.string().regex(/\S/, 'a question with at least one letter'), query, 'question');
  assertMoment(now);
  const strategy = options.strategy === 'rag' && sources.documents === undefined ? 'hybrid' : options.strategy;
  const { timeZone } = options;
  const isDated = timeZone !== null && (options.cite || asksForTime(question, { timestamp: now, timeZone }));
  const datesIn = isDated ? timeZone : null;
  const open = await openSources(sources, timeZone ?? 'UTC');
  const alone = strategy !== 'rag';
  const split = splitBudget(options.budget, alone ? { documents: 0, memories: 1 } : options.weights);
  const ask = (name: keyof AssemblySources, k: number, session: string | null) => {
    const source = open[name];
    const request = { query: question, k: options.k ?? k, session, now };
    return source === undefined ? [] : [askSource(name, source, request, options.timeoutMs, signal)];
  };
  const asked = await Promise.all([
    ...(alone ? [] : ask('documents', split.documents.k, null)),
    ...ask('memories', split.memories.k, options.session),
    ...ask('facts', split.memories.k, options.session),
    ...ask('domain', MOST_RECORDS, options.session),
  ]);
  const find = (name: string) => asked.find((answer) => answer.name === name)?.items ?? [];
  const memories = fuseByRank({ memories: find('memories'), facts: find('facts') }).filter(
    // Other sessions are left out, also if the source ignores the session.
    ({ memoryType, session }) =>
      acceptsType(strategy, memoryType) && (options.session === null || session === options.session),
  );
  const merged = mergeByWeight(find('documents'), memories, split.weights);
  const ordered = options.rerank === 'bm25' ? await rerankByWords(question, merged) : merged;
  const countTokens = await createTokenCounter(options.tokens);
  const count = (item: ContextItem) => ({ ...item, tokens: countTokens(readItemText(item)) });
  const records = packInOrder(find('domain').map(count), options.budget);
  const others = PACKINGS[options.packing](ordered.map(count), options.budget - records.tokens);
  const items = [...records.packed, ...others.packed];
  return {
    ...{
      prompt: formatPrompt(question, items, { now, timeZone: datesIn, cites: options.cite }),
      items,
      left: [...records.left, ...others.left],
    },
    ...{ tokens: records.tokens + others.tokens, budget: options.budget },
    ...{ strategy, weights: split.weights, datesIn, sources: asked },
  };
}
