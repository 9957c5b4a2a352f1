import { z } from 'zod';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { withholdSensitive } from '../../core/service/sendable-text.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { parse, suggestKnown } from '../../core/validation/validation.ts';
import { scaleRowsToUnit } from '../../index/encoders/encoder-definition.ts';
import { findVectorInput } from '../../index/encoders/registry.ts';
import {
  type AssembledContext,
  type AssemblySources,
  assemble,
  fuseByRank,
  MOST_RECORDS,
  openSources,
} from '../../memory/context/assemble.ts';
import {
  ASSEMBLY_STRATEGIES,
  type ContextShares,
  contextSharesSchema,
  PACKING_NAMES,
  PACKINGS,
  PRESET_OF_STRATEGY,
  packInOrder,
  splitBudget,
} from '../../memory/context/packing.ts';
import { formatPrompt } from '../../memory/context/prompt.ts';
import {
  type ContextItem,
  type ContextSource,
  type CountedItem,
  describeRank,
  describeTurn,
  type ItemType,
  readItemText,
} from '../../memory/context/source.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { createTokenCounter, TOKEN_COUNTERS } from '../../model/text/tokens.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { isSensitive } from '../../model/turns/memory-fields.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import { createEntityRegistry } from '../../rank/query/entity-registry.ts';
import { type QueryUnderstanding, understand } from '../../rank/query/understand.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { MemoryReason } from '../../rank/signals/memory-signals.ts';
import { listArmChain } from '../config/arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { openArmRunner, openDataset, type RankedArm, type RunnerInputs } from './arm-runner.ts';
import { stageVersion } from './environment.ts';
import { explainRankedTurn } from './needed-data.ts';
import { buildInspectedRankings } from './rankings.ts';
import { listTunedOptions } from './tuning.ts';
import { areVectorsUnread, chooseArmEncoding } from './workspaces.ts';

/** Numbers of a vector, and the largest of them, as of the coordinates of a memory. */
const MOST_NUMBERS = 100_000;
const LARGEST = 1e18;

/** A question, who asks it and when, and how much of the answer's evidence a model is shown. */
const questionSchema = z.strictObject({
  text: z.string().regex(/\S/, 'a question with at least one letter'),
  /** The vector of the question, by the encoder of the arm; null: the arm embeds the text if it compares vectors. */
  vector: z.array(z.number().min(-LARGEST).max(LARGEST)).min(1).max(MOST_NUMBERS).nullable().default(null),
  /** Milliseconds since 1970: only earlier turns are seen; null: after the newest turn. */
  asOf: z.number('milliseconds since 1970').nullable().default(null),
  /** In which `yesterday` begins. */
  timeZone: z.string().default('UTC'),
  author: z.string().nullable().default(null),
  channel: z.string().nullable().default(null),
  /** Only turns of this conversation; null: of all. */
  conversationId: z.string().nullable().default(null),
  anchorTurnId: z.string().nullable().default(null),
  /** Tokens of all turns together. */
  budget: z.int('a whole number of tokens').min(1).default(2000),
  /**
   * `ranking`: the turns of the arm in its order, whatever they are; the others are those of `assemble`, which divides
   * the budget.
   */
  strategy: z.enum(['ranking', ...ASSEMBLY_STRATEGIES]).default('ranking'),
  /**
   * For the strategy `rag`: the shares of documents and of memories; `by-question`: the preset that follows from the
   * understanding of the question.
   */
  weights: z.union([z.literal('by-question'), contextSharesSchema]).default('memory-focused'),
  /** Memories of this conversation alone, beside the documents of all; null: of all. */
  session: z.string().nullable().default(null),
  /** For all strategies but `ranking`: one order over documents and memories. */
  rerank: z.enum(['bm25', 'none']).default('bm25'),
  packing: z.enum(PACKING_NAMES).default('in-order'),
  tokens: z.enum(TOKEN_COUNTERS).default('characters/4'),
  /** The prompt states of each item its id, its date and why it was found. */
  cite: z.boolean().default(false),
  /**
   * The text goes to no service and into no file of the cache. The prompt stays here too: it may hold sensitive turns.
   */
  sensitive: z.boolean().default(false),
});
/** A question, see {@link questionSchema}. */
export type QuestionInput = z.input<typeof questionSchema>;
/** A question with its defaults. */
type Question = z.output<typeof questionSchema>;

/**
 * The queries that a question asks an arm: one; with a session a second one within this conversation, whose memories
 * the prompt shows.
 *
 * @throws ValidationError for a conversation, session or anchor that the corpus lacks.
 */
function buildQueries(question: Question, corpus: Corpus): [Query, ...Query[]] {
  const { text, asOf, author, channel, conversationId, anchorTurnId, session, sensitive } = question;
  for (const id of [conversationId, session]) if (id !== null) corpus.getConversation(id);
  if (anchorTurnId !== null) corpus.getTurn(anchorTurnId);
  // What stages keep of a question is found by its id.
  const id = `question-${computeHash(question).slice(0, 16)}`;
  const query: Query = {
    ...{ id, text, timestamp: asOf ?? (corpus.turns.at(-1)?.timestamp ?? 0) + 1, author, channel, anchorTurnId },
    ...(conversationId !== null && { conversationId }),
    ...(sensitive && { attributes: { sensitive } }),
    ...{ split: 'test', cluster: 'question' },
  };
  return session === null ? [query] : [query, { ...query, id: `${id}-session`, conversationId: session }];
}

/** A turn of a ranking as an item of a context. */
interface RankedItem extends ContextItem {
  /** The parts of the score by name. */
  readonly parts: Readonly<Record<string, number>>;
}

/**
 * The ranking of a question: of two queries, the documents of the first and the memories of the second, which is that
 * of the session.
 */
function listRanking(corpus: Corpus, queries: readonly Query[], arm: RankedArm): RankedItem[] {
  const [found = [], own] = buildInspectedRankings(corpus, queries, arm, queries).map((ranking) =>
    ranking.map(({ id, score, components }, above): RankedItem => {
      const parts = Object.fromEntries(arm.componentNames.map((name, i) => [name, components[i] as number]));
      return { ...describeTurn(corpus.getTurn(id), score), why: describeRank(above + 1, score, parts), parts };
    }),
  );
  if (own === undefined) return found;
  const isDocument = ({ memoryType }: ContextItem) => memoryType === 'document';
  return [...found.filter(isDocument), ...own.filter((item) => !isDocument(item))].sort(compareScored);
}

/** A turn of the ranking, and why it is there. */
export interface RankedReason {
  readonly id: string;
  readonly memoryType: ItemType;
  /** Where it is from, as the prompt names it. */
  readonly source: string;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
  /** The parts of the score by name, such as `hnsw` or `bm25`. */
  readonly parts: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** True if it is in the prompt. */
  readonly packed: boolean;
  /** Of an arm with the signal `strategy`: the signal without which its score would fall most. Null for other arms. */
  readonly reason: MemoryReason | null;
}

/** How documents and memories share a budget. */
export interface SharedBudget {
  /** The strategy that was used: `hybrid` where `rag` has no documents. */
  readonly strategy: AssembledContext['strategy'];
  readonly weights: ContextShares;
  /** How many items each source gave. */
  readonly found: Readonly<Record<string, number>>;
}

/** What a model would be shown for a question, and why. */
export interface AskedContext {
  readonly prompt: string;
  readonly arm: string;
  readonly tokens: number;
  readonly budget: number;
  /** Sensitive turns of the ranking. The prompt holds none of them, unless the question is sensitive too. */
  readonly withheld: number;
  /** The moment of the question in milliseconds since 1970. */
  readonly asOf: number;
  /** What the question asks for. Its entities are the authors of the dataset. It does not affect the ranking. */
  readonly understanding: QueryUnderstanding;
  /** Null for the strategy `ranking`. */
  readonly shared: SharedBudget | null;
  /** The ranking of the arm, best first. */
  readonly ranking: readonly RankedReason[];
  /** Facts and records that were found beside it. */
  readonly beside: readonly (CountedItem & { readonly packed: boolean })[];
}

/** What {@link askArm} needs besides the config. */
export interface AskContext {
  /** Where prepared data and embeddings are kept; null keeps nothing. */
  readonly cacheFolder: string | null;
  /** By default the dataset that the config names. */
  readonly dataset?: Dataset;
  /** Asked beside the arm. Facts are fused with its ranking by rank; records are packed first. */
  readonly sources?: Pick<AssemblySources, 'facts' | 'domain'>;
  readonly progress?: StartProgress;
}

/** @throws ValidationError for a name that no arm has. */
function assertArm({ arms }: ExperimentConfig, name: string): void {
  const known = arms.map((one) => one.name);
  if (known.includes(name)) return;
  throw new ValidationError(`config has no arm: ${name}; use ${suggestKnown(name, known)}`, { arm: name });
}

/** @throws ValidationError for an arm with a signal that would embed the question by an encoder of its own. */
function assertOneEncoder(arm: ArmOptions, tuned: readonly ArmOptions[]): void {
  const own = [arm, ...tuned.filter(({ name }) => name === arm.name)];
  const steps = own.flatMap((options) => readArm(options).steps);
  const [encoder] = steps.flatMap(({ mix }) => mix?.signals.encoders ?? []);
  if (encoder === undefined) return;
  throw new ValidationError(
    `arm ${arm.name} has a signal with an encoder of its own, for which the vector of the question is not: ${encoder.encoder}; leave out --vector, or remove the encoder from signals.encoders of the mix`,
    { arm: arm.name, encoder: encoder.encoder },
  );
}

/**
 * The vectors that an arm needs of a question: none if neither the arm nor what tuning may make of it compares
 * vectors, else the given one, else that of the encoder.
 *
 * @throws UnavailableError if the encoder has no vector for a new text; ValidationError for a given vector where
 * the arm has several encoders.
 */
function planVectors(
  config: ExperimentConfig,
  dataset: Dataset,
  { vector }: Question,
  queries: readonly Query[],
): Pick<RunnerInputs, 'givenVectors'> {
  const [arm] = config.arms as [ArmOptions];
  if (vector !== null) assertOneEncoder(arm, listTunedOptions(arm.name, config.arms) ?? []);
  if (areVectorsUnread({ dataset, config, code: stageVersion }, queries, [arm])) return {};
  if (vector !== null) {
    const row = Float32Array.from(vector);
    scaleRowsToUnit(row, row.length);
    return { givenVectors: new Map(queries.map(({ id }) => [id, row])) };
  }
  const { embedding } = chooseArmEncoding(config, arm);
  if (findVectorInput(embedding) !== 'id') return {};
  throw new UnavailableError(
    'vector of the question',
    `arm ${arm.name} compares vectors, and encoder ${embedding.encoder} has those of turns and queries alone; pass --vector, or vector to askArm`,
  );
}

/** The authors of a corpus, as what a question may name. */
async function createAuthorRegistry({ turns }: Corpus) {
  const authors = new Set(
    turns.flatMap(({ author }) => (author !== null && /[\p{L}\p{N}]/u.test(author) ? author : [])),
  );
  return createEntityRegistry([...authors].map((name) => ({ id: `author:${name}`, name })));
}

/** What of a ranking the prompt holds. */
interface Packed {
  readonly prompt: string;
  readonly ids: ReadonlySet<string>;
  readonly tokens: number;
  readonly shared: SharedBudget | null;
}

/** Items that a prompt is made of, and its moment. */
interface Found {
  readonly items: readonly RankedItem[];
  /** Facts and records. */
  readonly beside: Readonly<Record<'facts' | 'domain', readonly ContextItem[]>>;
  readonly now: number;
  /** The time zone of dates; null where the times of turns are made up. */
  readonly datesIn: string | null;
}

/** Asks the sources beside an arm; a session has no facts. @throws what they throw. */
async function askBeside(
  { text, session, budget, timeZone }: Question,
  sources: Pick<AssemblySources, 'facts' | 'domain'>,
  now: number,
): Promise<Found['beside']> {
  const open = await openSources({ ...sources, memories: async () => [] }, timeZone);
  const ask = async (source: ContextSource | undefined, k: number) => {
    const { signal } = new AbortController();
    const found = (await source?.({ query: text, k, session, now, signal })) ?? [];
    return 'items' in found ? found.items : found;
  };
  const { k } = splitBudget(budget, { documents: 0, memories: 1 }).memories;
  const facts = session === null ? await ask(open.facts, k) : [];
  return { facts, domain: await ask(open.domain, MOST_RECORDS) };
}

async function packRanking(question: Question, understanding: QueryUnderstanding, found: Found): Promise<Packed> {
  const { text, budget, tokens: counter, packing, cite } = question;
  if (question.strategy !== 'ranking') return shareBudget(question, question.strategy, understanding, found);
  const { items, beside, now, datesIn } = found;
  const countTokens = await createTokenCounter(counter);
  const count = (item: ContextItem) => ({ ...item, tokens: countTokens(readItemText(item)) });
  const records = packInOrder(beside.domain.map(count), budget);
  const ranked = fuseByRank({ ranking: items, facts: beside.facts }).map(count);
  const others = PACKINGS[packing](ranked, budget - records.tokens);
  const packed = [...records.packed, ...others.packed];
  const timeZone = cite || understanding.timeFocused ? datesIn : null;
  const prompt = formatPrompt(text, packed, { now, timeZone, cites: cite });
  const ids = new Set(packed.map(({ id }) => id));
  return { prompt, ids, tokens: records.tokens + others.tokens, shared: null };
}

/** Documents and memories of a ranking, each as a source of `assemble`. */
async function shareBudget(
  { text, budget, session, weights, rerank, packing, tokens: counter, cite }: Question,
  strategy: AssembledContext['strategy'],
  understanding: QueryUnderstanding,
  { items, beside, now, datesIn }: Found,
): Promise<Packed> {
  const documents = items.filter(({ memoryType }) => memoryType === 'document');
  const memories = items.filter(({ memoryType }) => memoryType !== 'document');
  const shares = weights === 'by-question' ? PRESET_OF_STRATEGY[understanding.strategy.name] : weights;
  const lists = { memories, ...(documents.length > 0 && { documents }), ...beside };
  const filled = Object.entries(lists).filter(([name, list]) => name === 'memories' || list.length > 0);
  const sources = Object.fromEntries(filled.map(([name, list]) => [name, async () => list]));
  const made = await assemble(
    text,
    { strategy, budget, session, weights: shares, rerank, packing, tokens: counter, timeZone: datesIn, cite },
    { memories: async () => memories, ...sources },
    { now },
  );
  const found = Object.fromEntries(made.sources.map((source) => [source.name, source.items.length]));
  const shared = { strategy: made.strategy, weights: made.weights, found };
  return { prompt: made.prompt, ids: new Set(made.items.map(({ id }) => id)), tokens: made.tokens, shared };
}

/**
 * Asks one arm of an experiment a question of one's own, and packs its ranking into a prompt. The arm is tuned as in a
 * run, on the dev queries of the dataset.
 *
 * @throws ConfigurationError for a question that breaks its schema; ValidationError for an unknown arm, conversation,
 *   session, anchor or time zone; SensitiveTextError for a sensitive question to an encoder that is a service;
 *   DimensionMismatchError for a vector of another dimension than the turns have; UnavailableError without a vector if
 *   the encoder cannot embed a new text.
 */
export async function askArm(
  config: ExperimentConfig,
  arm: string,
  input: QuestionInput,
  context: AskContext,
): Promise<AskedContext> {
  const { cacheFolder, progress } = context;
  const question = parse(questionSchema, input, 'question');
  assertArm(config, arm);
  const dataset = await openDataset(config, context);
  const queries = buildQueries(question, dataset.corpus);
  const now = queries[0].timestamp;
  const { text, timeZone, tokens: counter } = question;
  const entities = await createAuthorRegistry(dataset.corpus);
  const understanding = await understand(text, { timestamp: now, timeZone, entities });
  const { times = 'real' } = dataset.declaration;
  const datesIn = times === 'real' ? timeZone : null;
  const chain = listArmChain(arm, config.arms).map(
    (name) => config.arms.find((one) => one.name === name) as ArmOptions,
  );
  // A limit of queries is for a quick look at figures; a question is ranked as a whole run would rank it.
  const evaluation = { ...config.evaluation, limitQueries: null, baseline: arm, conservation: undefined };
  const own: ExperimentConfig = { ...config, arms: chain, only: [arm], evaluation };
  const runner = await openArmRunner(own, {
    // The cache has vectors and stages by the text of a question.
    ...{ cacheFolder: question.sensitive ? null : cacheFolder, dataset, queries },
    ...planVectors(own, dataset, question, queries),
    ...(progress && { progress }),
  });
  try {
    const { ranked } = await runner.rank(arm, config.evaluation.depth);
    const items = listRanking(dataset.corpus, queries, ranked);
    const staysHere = ({ id }: RankedItem) => !question.sensitive && isSensitive(dataset.corpus.getTurn(id));
    const { sendable, withheld } = withholdSensitive(items, staysHere);
    const beside = await askBeside(question, context.sources ?? {}, now);
    const found = { items: sendable, beside, now, datesIn };
    const { prompt, ids, tokens, shared } = await packRanking(question, understanding, found);
    const countTokens = await createTokenCounter(counter);
    const ranking = items.map((item, i) => ({
      ...{ id: item.id, memoryType: item.memoryType, source: item.source, rank: i + 1, score: item.score },
      ...{ parts: item.parts, tokens: countTokens(readItemText(item)), packed: ids.has(item.id) },
      reason: explainRankedTurn(ranked, 0, item.parts, item.memoryType),
    }));
    const counts = { tokens, budget: question.budget, withheld: withheld.length };
    const others = [...beside.domain, ...beside.facts].map((item) => ({
      ...{ ...item, tokens: countTokens(readItemText(item)), packed: ids.has(item.id) },
    }));
    return { prompt, arm, ...counts, asOf: now, understanding, shared, ranking, beside: others };
  } finally {
    await runner.dispose();
  }
}
