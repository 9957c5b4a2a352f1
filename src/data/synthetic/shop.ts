import { computeHash } from '../../core/hash/hash.ts';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import {
  HANDBOOK_KINDS,
  SHOP_KINDS,
  SHOP_LICENCE,
  type ShopInput,
  type ShopKind,
  type ShopOptions,
} from '../prepared/datasets.ts';
import { Counts, displayDataset } from '../prepared/prepared.ts';
import {
  type CustomerMemories,
  type DrawnShop,
  drawShop,
  type HandbookPage,
  PREFERENCES,
  SHOP_DAYS,
  SHOP_START,
  type ShopOrder,
  SITUATIONS,
} from './draw-shop.ts';

const DAY = 86_400_000;

/** A question about a shop, with what answers it. */
export interface ShopQuestion {
  readonly id: string;
  readonly kind: ShopKind;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** The subject: a customer or a situation. Questions about one subject are not independent. */
  readonly cluster: string;
  /** The memories and pages that answer it. */
  readonly memories: readonly string[];
  /** The orders that answer it. */
  readonly orders: readonly number[];
}

type Answer = Pick<ShopQuestion, 'text' | 'cluster'> & Partial<Pick<ShopQuestion, 'memories' | 'orders'>>;

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** The calendar month before a moment: two ends, and its name. */
function findLastMonth(now: number) {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month - 1, 1), end: Date.UTC(year, month, 1), name: MONTHS[(month + 11) % 12] };
}

function selectOrders(orders: readonly ShopOrder[], customer: string, start: number, end: number): number[] {
  return orders
    .filter(({ customer_id, ordered_at }) => customer_id === customer && ordered_at >= start && ordered_at < end)
    .map(({ order_id }) => order_id);
}

type Ask = (asked: {
  readonly shop: DrawnShop;
  readonly about: CustomerMemories;
  readonly now: number;
  readonly source: Random;
}) => Answer | null;

const ASK: Readonly<Record<ShopKind, Ask>> = {
  preference({ about, source }) {
    const chosen = source.integer(PREFERENCES.length);
    const { asked } = PREFERENCES[chosen] as (typeof PREFERENCES)[number];
    const { name, customer_id } = about.customer;
    return {
      text: `Which ${asked} does ${name} want?`,
      cluster: customer_id,
      memories: [about.facts[chosen] as string],
    };
  },
  episode({ about, now, source }) {
    const { start, end, name: month } = findLastMonth(now);
    const memories = about.events.filter(({ timestamp }) => timestamp >= start && timestamp < end);
    if (memories.length === 0) return null;
    const time = source.integer(2) === 0 ? 'last month' : `in ${month}`;
    const text = `What did ${about.customer.name} write about ${time}?`;
    return { text, cluster: about.customer.customer_id, memories: memories.map(({ turnId }) => turnId) };
  },
  procedure({ shop, source }) {
    const chosen = source.integer(SITUATIONS.length);
    const { asked } = SITUATIONS[chosen] as (typeof SITUATIONS)[number];
    const verb = ['handle', 'deal with', 'proceed with'][source.integer(3)];
    const text = `How do I ${['usually', 'best', 'normally'][source.integer(3)]} ${verb} ${asked}?`;
    return { text, cluster: asked.replace(' ', '-'), memories: [shop.procedures[chosen] as string] };
  },
  overview({ about }) {
    const { name, customer_id } = about.customer;
    return { text: `Tell me about ${name}`, cluster: customer_id, memories: [about.summary] };
  },
  both({ shop, about, now }) {
    const { name, customer_id } = about.customer;
    const orders = selectOrders(shop.orders, customer_id, Number.NEGATIVE_INFINITY, now).slice(-3);
    const text = `When are the payments for the orders of ${name} due?`;
    return { text, cluster: customer_id, memories: [about.facts[0] as string], orders };
  },
  records({ shop, about, now }) {
    const { start, end } = findLastMonth(now);
    const orders = selectOrders(shop.orders, about.customer.customer_id, start, end);
    if (orders.length === 0) return null;
    const { name, customer_id } = about.customer;
    return { text: `What did ${name} order last month?`, cluster: customer_id, orders };
  },
  rule({ shop, source }) {
    const { range, turnId } = shop.pages[source.integer(shop.pages.length)] as HandbookPage;
    const text = `Until when do we take back goods of the range ${range}?`;
    return { text, cluster: range.toLowerCase(), memories: [turnId] };
  },
  'rule-and-memory'({ shop, about, source }) {
    const { range, turnId } = shop.pages[source.integer(shop.pages.length)] as HandbookPage;
    const { name, customer_id } = about.customer;
    const text = `${name} sends back goods of the range ${range}. Until when, and in which packaging?`;
    return { text, cluster: customer_id, memories: [turnId, about.facts[3] as string] };
  },
};

/**
 * Draws questions, the kinds in equal numbers, each text once; asked in the month after everything that is remembered.
 */
export function askShop(shop: DrawnShop, { seed = 1, questions: count = 150 }: ShopInput): ShopQuestion[] {
  const source = createRandom(seed, 'shop questions');
  const asked = new Map<string, Omit<ShopQuestion, 'id'>>();
  const kinds: readonly ShopKind[] = shop.pages.length === 0 ? SHOP_KINDS : [...SHOP_KINDS, ...HANDBOOK_KINDS];
  const limits = new Map(kinds.map((kind, i) => [kind, Math.ceil((count - i) / kinds.length)]));
  for (const kind of kinds) {
    const before = asked.size;
    for (let tries = 0; tries < 500 * count && asked.size - before < (limits.get(kind) as number); tries++) {
      const about = shop.customers[source.integer(shop.customers.length)] as CustomerMemories;
      const now = SHOP_START + (SHOP_DAYS + 1) * DAY + Math.floor(source.uniform() * 30 * DAY);
      const answer = ASK[kind]({ shop, about, now, source });
      if (answer === null || asked.has(answer.text)) continue;
      asked.set(answer.text, { kind, timestamp: now, memories: [], orders: [], ...answer });
    }
  }
  return [...asked.values()]
    .sort((a, b) => a.timestamp - b.timestamp)
    .map((question, i) => ({ id: `q${String(i).padStart(4, '0')}`, ...question }));
}

/** Half of the questions, by a hash of what they ask: everything may be chosen on dev. */
export function isDevQuestion({ text }: Pick<ShopQuestion, 'text'>): boolean {
  return Number.parseInt(computeHash(text).slice(0, 8), 16) % 2 === 0;
}

/** The texts of the other half, which are unique. */
export function listTestTexts(questions: readonly Pick<ShopQuestion, 'text'>[]): string[] {
  return questions.filter((question) => !isDevQuestion(question)).map(({ text }) => text);
}

function buildQuery({ id, kind, text, timestamp, cluster }: ShopQuestion): Query {
  const split = isDevQuestion({ text }) ? 'dev' : 'test';
  return { id, text, timestamp, anchorTurnId: null, author: null, channel: null, kind, split, cluster };
}

/** The dataset of a shop: its memories, and the questions that memories answer. */
export function buildShopDataset({ turns }: Pick<DrawnShop, 'turns'>, questions: readonly ShopQuestion[]): Dataset {
  const answered = questions.filter(({ memories }) => memories.length > 0);
  const queries = answered.map(buildQuery);
  const corpus = new Corpus(turns);
  const counts = new Counts();
  const pages = corpus.turns.filter(({ attributes }) => attributes?.source === 'documents').length;
  counts.add('memories', corpus.size - pages);
  if (pages > 0) counts.add('pages', pages);
  counts.add('questions', questions.length);
  for (const { kind } of questions) counts.add(`questions, ${kind}`);
  for (const { split } of queries) counts.add(`queries, ${split}`);
  return displayDataset({
    name: 'shop',
    declaration: {
      task: 'a question of the owner of a shop must find the memories that answer it',
      features: ['text', 'time', 'attributes of memories'],
      licence: SHOP_LICENCE,
    },
    corpus,
    queries,
    qrels: new Map(answered.map(({ id, memories }) => [id, new Map(memories.map((turn) => [turn, 1]))])),
    relevantGrade: 1,
    gradeNames: { 1: 'answers' },
    // Memories are no answers: encoders may be fitted on all of them.
    devConversations: new Set(corpus.conversations.map(({ id }) => id)),
    facts: counts.toFacts(),
    hash: computeHash({ turns: corpus.turns, questions }),
  });
}

/**
 * An invented shop: see docs/datasets/shop.md.
 *
 * @throws ConfigurationError for options out of range.
 */
export async function loadShop({ name: _, ...options }: ShopOptions): Promise<Dataset> {
  const drawn = drawShop(options);
  return buildShopDataset(drawn, askShop(drawn, options));
}
