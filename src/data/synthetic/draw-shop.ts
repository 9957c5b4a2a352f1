import { createRandom, type Random } from '../../core/numbers/random.ts';
import { type Attributes, SUPERSEDED } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { ShopInput } from '../prepared/datasets.ts';
import { inventWords } from './invented-words.ts';

/** Kinds of preferences: how a question names it, how the fact does, and what it may be. */
export const PREFERENCES = Object.freeze([
  {
    asked: 'payment terms',
    predicate: 'pays within',
    objects: ['14 days', '30 days', '60 days', 'the day of delivery'],
  },
  { asked: 'day of delivery', predicate: 'wants parcels on', objects: ['Mondays', 'Tuesdays', 'Thursdays', 'Fridays'] },
  { asked: 'way of contact', predicate: 'is reached by', objects: ['phone', 'mail', 'chat', 'letter'] },
  { asked: 'packaging', predicate: 'wants goods in', objects: ['crates', 'paper', 'reused boxes', 'pallets'] },
] as const);

/** Situations that a customer may have written or called about. */
const EVENTS = Object.freeze([
  'complained about a damaged box',
  'asked for an offer of larger amounts',
  'reported a wrong colour',
  'praised the quick answer of the hotline',
  'asked to move the delivery to another street',
  'returned two broken lamps',
  'asked whether the catalogue is printed',
  'announced a new person for purchases',
  'wanted a copy of an old receipt',
  'asked about the origin of the wood',
] as const);

/** Situations, the trigger of a procedure in other words, and what to do: the first is proven, the second is not. */
export const SITUATIONS = Object.freeze([
  {
    asked: 'rush orders',
    trigger: 'goods are needed within a day',
    actions: ['call the night courier', 'ask for patience'],
  },
  {
    asked: 'late payments',
    trigger: 'an account is overdue for a month',
    actions: ['phone before a letter', 'send a letter'],
  },
  { asked: 'returns', trigger: 'goods come back opened', actions: ['check them before the refund', 'refund at once'] },
  {
    asked: 'new customers',
    trigger: 'a first purchase is large',
    actions: ['ask for half in advance', 'deliver on account'],
  },
  {
    asked: 'stock-outs',
    trigger: 'an article is missing for a week',
    actions: ['offer the next size', 'wait for the maker'],
  },
  {
    asked: 'complaints',
    trigger: 'someone is angry on the phone',
    actions: ['repeat what they said', 'pass the call on'],
  },
  {
    asked: 'price increases',
    trigger: 'a maker becomes dearer',
    actions: ['tell regular buyers first', 'change the list'],
  },
  {
    asked: 'wrong addresses',
    trigger: 'a parcel cannot be handed over',
    actions: ['ask by chat the same day', 'store the parcel'],
  },
] as const);

const SEGMENTS = Object.freeze([
  'a large buyer of lamps',
  'a small buyer of shelves',
  'a steady buyer of chairs',
  'a new buyer of tables',
] as const);
const BUSINESSES = Object.freeze([
  'Books',
  'Media',
  'Foods',
  'Tools',
  'Travel',
  'Theatre',
  'Bikes',
  'Gardens',
] as const);
const PRODUCTS = Object.freeze(['lamp', 'shelf', 'chair', 'table'] as const);

/** Sentences of a handbook page besides its rule. */
const HANDBOOK_SENTENCES = Object.freeze([
  'Whoever opens a box notes the day on its side.',
  'The shelf at the window stays free for goods that wait for a decision.',
  'A second person counts whatever is worth more than a day of sales.',
  'Labels are written by hand only where the printer is out of order.',
  'Fragile pieces are carried one at a time, also in the last hour.',
  'The storage room is aired in the morning and closed at noon.',
  'Photographs of damage are kept with the receipt for two years.',
  'Samples are lent for a week and entered in the blue book.',
  'Whatever comes from abroad is weighed before it is unpacked.',
  'The list of makers hangs behind the counter and is renewed in spring.',
] as const);

/** A page of the handbook of a shop: the rules of one range of goods. */
export interface HandbookPage {
  readonly turnId: string;
  readonly range: string;
}

/** Sentences of a page besides its rule. */
const SENTENCES = 6;

function writePage(source: Random, range: string): string {
  const rule = `Goods of the range ${range} go back within ${3 + source.integer(40)} days.`;
  const sentences = source.shuffle<string>([...HANDBOOK_SENTENCES]).slice(0, SENTENCES);
  sentences.splice(source.integer(SENTENCES + 1), 0, rule);
  return sentences.join(' ');
}

/**
 * Draws pages of some 70 words, documents that are older than every memory. No range has the name of a customer.
 *
 * @param taken words that name customers.
 */
function drawHandbook(
  count: number,
  seed: number,
  time: number,
  taken: ReadonlySet<string>,
): { pages: HandbookPage[]; turns: Turn[] } {
  const source = createRandom(seed, 'shop handbook');
  const ranges = inventWords(seed, count + taken.size)
    .names.filter((name) => !taken.has(name))
    .slice(0, count);
  const pages = ranges.map((range, i) => ({ turnId: `page-${String(i).padStart(5, '0')}`, range }));
  const turns = pages.map(({ turnId, range }, i): Turn => {
    const fields = { id: turnId, conversationId: 'handbook', parentId: null, timestamp: time - count + i };
    return {
      ...fields,
      author: null,
      channel: null,
      text: writePage(source, range),
      attributes: { source: 'documents' },
    };
  });
  return { pages, turns };
}

const DAY = 86_400_000;
/** The first day of the shop, a Monday. */
export const SHOP_START = Date.UTC(2024, 0, 1);
/** Days of the shop before the first question is asked. */
export const SHOP_DAYS = 180;
/** Events that each customer is remembered by. */
const EVENTS_OF_A_CUSTOMER = 6;
const ORDERS_OF_A_CUSTOMER = 8;

/** A row of the table `customers`. */
export interface ShopCustomer {
  readonly customer_id: string;
  readonly name: string;
}

/** A row of the table `orders`. */
export interface ShopOrder {
  readonly order_id: number;
  readonly customer_id: string;
  /** Milliseconds since 1970. */
  readonly ordered_at: number;
  readonly product: string;
  readonly total: number;
}

/** A memory of what happened, and when. */
export interface RememberedEvent {
  readonly turnId: string;
  readonly event: string;
  readonly timestamp: number;
}

/** What is remembered of a customer, by the ids of the turns. */
export interface CustomerMemories {
  readonly customer: ShopCustomer;
  /** By the place in PREFERENCES: the fact that holds. */
  readonly facts: readonly string[];
  readonly events: readonly RememberedEvent[];
  readonly summary: string;
}

/** A shop before anybody asks. */
export interface DrawnShop {
  readonly customers: readonly CustomerMemories[];
  readonly orders: readonly ShopOrder[];
  /** By the place in SITUATIONS: the procedure that is proven. */
  readonly procedures: readonly string[];
  /** The pages of the handbook; none without one. */
  readonly pages: readonly HandbookPage[];
  /** The memories and the pages, each a turn. */
  readonly turns: readonly Turn[];
}

const choose = <T>(source: Random, values: readonly T[]): T => values[source.integer(values.length)] as T;

/** Draws memories as turns, with ids in the order in which they are drawn. */
class MemoryDrawer {
  readonly turns: Turn[] = [];
  readonly #source: Random;

  constructor(source: Random) {
    this.#source = source;
  }

  drawTime(firstDay: number, lastDay: number): number {
    return SHOP_START + Math.floor((firstDay + this.#source.uniform() * (lastDay - firstDay)) * DAY);
  }

  add(conversationId: string, timestamp: number, text: string, attributes: Attributes): string {
    const id = `memory-${String(this.turns.length).padStart(5, '0')}`;
    const fields = { id, conversationId, parentId: null, timestamp, author: null, channel: null };
    this.turns.push({ ...fields, text, attributes: { userId: 'owner', source: 'memory', ...attributes } });
    return id;
  }
}

function drawCustomers(count: number, seed: number): ShopCustomer[] {
  const source = createRandom(seed, 'shop customers');
  return inventWords(seed, count)
    .names.slice(0, count)
    .map((word) => {
      const name = `${word} ${choose(source, BUSINESSES)}`;
      return { customer_id: name.toLowerCase().replace(' ', '-'), name };
    });
}

/** The facts of a customer: of each kind an old one that was replaced, and the one that holds. */
function drawFacts(memories: MemoryDrawer, source: Random, { customer_id, name }: ShopCustomer): string[] {
  return PREFERENCES.map(({ predicate, objects }) => {
    const [old, holds] = source.shuffle([...objects]);
    const tell = (object: string | undefined, status: string, time: number) => {
      const fact = { memoryType: 'semantic', subject: name, predicate, object: object as string, status };
      const more = { entities: [`customer:${customer_id}`], importance: 0.5 + source.integer(4) / 10 };
      return memories.add(customer_id, time, `${name} ${predicate} ${object}`, { ...fact, ...more });
    };
    tell(old, SUPERSEDED, memories.drawTime(0, 60));
    return tell(holds, 'active', memories.drawTime(61, SHOP_DAYS));
  });
}

function drawEvents(memories: MemoryDrawer, source: Random, { customer_id, name }: ShopCustomer): RememberedEvent[] {
  const events = source.shuffle([...EVENTS]).slice(0, EVENTS_OF_A_CUSTOMER);
  return events.map((event, i) => {
    const span = SHOP_DAYS / EVENTS_OF_A_CUSTOMER; // one in each month
    const timestamp = memories.drawTime(i * span, (i + 1) * span);
    const attributes = {
      ...{ memoryType: 'episodic', entities: [`customer:${customer_id}`] },
      ...{ importance: 0.1 + source.integer(7) / 10, useCount: source.integer(4) },
    };
    return { turnId: memories.add(customer_id, timestamp, `${name} ${event}`, attributes), event, timestamp };
  });
}

function drawProcedures(memories: MemoryDrawer, source: Random): string[] {
  return SITUATIONS.map(({ trigger, actions }) => {
    const [proven, other] = actions.map((action, i) => {
      const useCount = i === 0 ? 40 + source.integer(60) : source.integer(4);
      const attributes = { memoryType: 'procedural', trigger, action, useCount };
      return memories.add('procedures', memories.drawTime(0, SHOP_DAYS), `${trigger}: ${action}`, attributes);
    });
    return (proven ?? other) as string;
  });
}

function drawOrders(source: Random, customers: readonly ShopCustomer[]): ShopOrder[] {
  const orders = customers.flatMap(({ customer_id }) =>
    Array.from({ length: ORDERS_OF_A_CUSTOMER }, (_, i) => {
      const day = ((i + source.uniform()) * SHOP_DAYS) / ORDERS_OF_A_CUSTOMER;
      const [product, amount] = [choose(source, PRODUCTS), 1 + source.integer(20)];
      return { customer_id, ordered_at: SHOP_START + Math.floor(day * DAY), product, total: 15 * amount };
    }),
  );
  return orders.sort((a, b) => a.ordered_at - b.ordered_at).map((order, i) => ({ order_id: 1000 + i, ...order }));
}

/**
 * Draws customers, their orders, and what is remembered: facts of which some were replaced, events, procedures of which
 * one of two is proven, and a summary of each customer. The same seed gives the same shop.
 */
export function drawShop({ seed = 1, customers: count = 40, pages: pageCount = 0 }: ShopInput): DrawnShop {
  const customers = drawCustomers(count, seed);
  const source = createRandom(seed, 'shop memories');
  const memories = new MemoryDrawer(source);
  const remembered = customers.map((customer): CustomerMemories => {
    const { customer_id, name } = customer;
    const summary = `${name} is ${choose(source, SEGMENTS)} that orders every ${2 + source.integer(5)} weeks`;
    return {
      customer,
      facts: drawFacts(memories, source, customer),
      events: drawEvents(memories, source, customer),
      summary: memories.add(customer_id, memories.drawTime(120, SHOP_DAYS), summary, {
        ...{ memoryType: 'summary', entities: [`customer:${customer_id}`] },
      }),
    };
  });
  const procedures = drawProcedures(memories, source);
  const orders = drawOrders(createRandom(seed, 'shop orders'), customers);
  const taken = new Set(customers.map(({ name }) => name.split(' ')[0] as string));
  const { pages, turns } = drawHandbook(pageCount, seed, SHOP_START, taken);
  return { customers: remembered, orders, procedures, pages, turns: [...turns, ...memories.turns] };
}
