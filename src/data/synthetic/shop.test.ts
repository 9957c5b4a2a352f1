import { describe, expect, test } from 'vitest';
import { describeDataset } from '../dataset-contract.harness.ts';
import { SHOP_KINDS } from '../prepared/datasets.ts';
import { loadDataset } from '../registry.ts';
import { drawShop } from './draw-shop.ts';
import { askShop, buildShopDataset } from './shop.ts';

const SMALL = { customers: 15, questions: 48 } as const;

describeDataset('shop', () => loadDataset({ name: 'shop', ...SMALL }), {
  reassigned: async (answers) => {
    const drawn = drawShop(SMALL);
    const questions = askShop(drawn, SMALL).map((question) => {
      const other = answers.get(question.id);
      return other === undefined ? question : { ...question, memories: [other] };
    });
    return buildShopDataset(drawn, questions);
  },
  splitsConversations: false,
});

describe('a shop', () => {
  const shop = drawShop({});
  const questions = askShop(shop, {});
  const turnOf = new Map(shop.turns.map((turn) => [turn.id, turn]));
  const attributesOf = (id: string | undefined) => turnOf.get(id ?? '')?.attributes ?? {};

  test('has 150 questions, of each kind as many, each text once; a seed gives the same, another another', () => {
    expect(SHOP_KINDS.map((kind) => questions.filter((question) => question.kind === kind).length)).toEqual(
      Array(6).fill(25),
    );
    expect(new Set(questions.map(({ text }) => text)).size).toBe(150);
    expect(askShop(drawShop({}), {})).toEqual(questions);
    expect(askShop(drawShop({ seed: 2 }), { seed: 2 })).not.toEqual(questions);
  });

  test('is asked after everything that is remembered and ordered', () => {
    const first = Math.min(...questions.map(({ timestamp }) => timestamp));
    for (const { timestamp } of shop.turns) expect(timestamp).toBeLessThan(first);
    for (const { ordered_at } of shop.orders) expect(ordered_at).toBeLessThan(first);
  });

  test('has answers that hold: facts that were not replaced, proven procedures, events and orders of the time', () => {
    const cases = {
      preference: 'semantic',
      both: 'semantic',
      procedure: 'procedural',
      overview: 'summary',
      episode: 'episodic',
    };
    for (const { kind, memories, orders, text, cluster, timestamp } of questions) {
      expect(memories.length > 0, kind).toBe(kind !== 'records');
      expect(orders.length > 0, kind).toBe(kind === 'records' || kind === 'both');
      for (const id of memories) {
        const { memoryType, status = 'active', useCount = 99, entities = [] } = attributesOf(id);
        expect(memoryType).toBe(cases[kind as keyof typeof cases]);
        expect(status).toBe('active');
        if (kind === 'procedure') expect(useCount).toBeGreaterThan(30);
        else expect(entities).toEqual([`customer:${cluster}`]);
      }
      if (!/last month/.test(text)) continue;
      const month = new Date(Date.UTC(new Date(timestamp).getUTCFullYear(), new Date(timestamp).getUTCMonth() - 1, 1));
      const times = [
        ...memories.map((id) => turnOf.get(id)?.timestamp),
        ...orders.map((id) => shop.orders.find(({ order_id }) => order_id === id)?.ordered_at),
      ];
      for (const time of times) expect(new Date(time as number).getUTCMonth()).toBe(month.getUTCMonth());
    }
  });

  test('has memories of four types with their fields, and customers of two words, each once', () => {
    const types = shop.turns.map(({ attributes }) => attributes?.memoryType as string);
    expect([...new Set(types)].sort()).toEqual(['episodic', 'procedural', 'semantic', 'summary']);
    for (const { text, attributes = {} } of shop.turns) {
      if (attributes.memoryType === 'semantic')
        expect(text).toBe(`${attributes.subject} ${attributes.predicate} ${attributes.object}`);
      if (attributes.memoryType === 'procedural') expect(text).toBe(`${attributes.trigger}: ${attributes.action}`);
    }
    const names = shop.customers.map(({ customer }) => customer.name);
    expect(new Set(names).size).toBe(40);
    for (const name of names) expect(name).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/);
  });
});

describe('a shop with a handbook', () => {
  const options = { customers: 15, pages: 30, questions: 64 } as const;
  const shop = drawShop(options);
  const questions = askShop(shop, options);

  test('is otherwise the same shop', () => {
    const { pages, turns, ...rest } = shop;
    const { pages: none, turns: memories, ...without } = drawShop({ customers: 15 });
    expect(none).toEqual([]);
    expect(rest).toEqual(without);
    expect(turns.slice(30)).toEqual(memories);
    expect(turns.slice(0, 30).every(({ attributes }) => attributes?.source === 'documents')).toBe(true);
  });

  test('has one page for each range that a question names, and names no customer', () => {
    const pages = shop.turns.slice(0, 30);
    const asked = questions.filter(({ kind }) => kind.startsWith('rule'));
    expect(asked).toHaveLength(16);
    for (const { text, memories } of asked) {
      const [, range] = text.match(/range (\w+)/) as RegExpMatchArray;
      expect(pages.filter((page) => page.text.includes(`range ${range} `)).map(({ id }) => id)).toEqual([memories[0]]);
    }
    const names = shop.customers.map(({ customer }) => customer.name.split(' ')[0] as string);
    for (const { range } of shop.pages) expect(names).not.toContain(range);
  });
});
