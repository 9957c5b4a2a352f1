import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countItem } from './items.fixture.ts';
import { packByDensity, packInOrder, packKnapsack } from './packing.ts';
import type { CountedItem } from './source.ts';

const listIds = (items: readonly CountedItem[]) => items.map(({ id }) => id).join('');
const summary = { memoryType: 'summary' } as const;

describe('in order', () => {
  test('summaries come first, each that fits; the others end with the first that does not fit', () => {
    const items = [
      countItem('a', 4),
      countItem('S', 9, summary),
      countItem('b', 5),
      countItem('T', 3, summary),
      countItem('c', 1),
    ];
    const { packed, left, tokens } = packInOrder(items, 10);
    expect([listIds(packed), listIds(left), tokens]).toEqual(['S', 'abTc', 9]);
    expect(listIds(packInOrder(items, 12).packed)).toBe('ST');
    expect(listIds(packInOrder(items, 19).packed)).toBe('STa');
    expect(listIds(packInOrder(items, 22).packed)).toBe('STabc');
  });

  test('a budget below every item packs nothing', () => {
    expect(packInOrder([countItem('a', 4)], 3)).toMatchObject({ packed: [], tokens: 0 });
    expect(packInOrder([], 3)).toEqual({ packed: [], left: [], tokens: 0 });
  });
});

describe('knapsack', () => {
  const items = fc.array(
    fc.record({ tokens: fc.integer({ min: 0, max: 9 }), score: fc.integer({ min: -2, max: 9 }) }),
    { maxLength: 9 },
  );

  test('has the largest sum of scores of all subsets that fit', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 30 }), (drawn, budget) => {
        const offered = drawn.map(({ tokens, score }, i) => countItem(String(i), tokens, { score }));
        const { packed, left, tokens } = packKnapsack(offered, budget);
        let best = 0;
        for (let subset = 0; subset < 2 ** offered.length; subset++) {
          const taken = offered.filter((_, i) => (subset >> i) & 1);
          const sum = (read: (item: CountedItem) => number) => taken.reduce((total, item) => total + read(item), 0);
          if (sum((item) => item.tokens) <= budget)
            best = Math.max(
              best,
              sum(({ score }) => Math.max(0, score)),
            );
        }
        expect(packed.reduce((sum, { score }) => sum + Math.max(0, score), 0)).toBe(best);
        expect(tokens).toBe(packed.reduce((sum, item) => sum + item.tokens, 0));
        expect(tokens).toBeLessThanOrEqual(budget);
        expect(packed.length + left.length).toBe(offered.length);
      }),
      { numRuns: 100 },
    );
  });

  test('takes the first of equal sets, and what has no score where room is left', () => {
    const equal = ['a', 'b', 'c'].map((id) => countItem(id, 5));
    expect(listIds(packKnapsack(equal, 10).packed)).toBe('ab');
    const rest = [countItem('a', 5, { score: 0 }), countItem('b', 5), countItem('c', 1, { score: 0 })];
    expect(listIds(packKnapsack(rest, 7).packed)).toBe('bc');
  });

  test('of too many items is an error that says what to do', () => {
    const many = Array.from({ length: 30_000 }, (_, i) => countItem(String(i), 1));
    expect(() => packKnapsack(many, 8000)).toThrow('offer fewer items or use the packing in-order');
  });
});

describe('by density', () => {
  test('the greatest score per token comes first, each that fits; summaries are before', () => {
    const items = [
      countItem('a', 10, { score: 0.5 }),
      countItem('b', 4, { score: 0.4 }),
      countItem('c', 2, { score: 0.2 }),
      countItem('d', 3, { score: 0.03 }),
      countItem('e', 0, { score: 0 }),
      countItem('S', 2, { ...summary, score: 0.01 }),
    ];
    const { packed, left, tokens } = packByDensity(items, 12);
    expect([listIds(packed), listIds(left), tokens]).toEqual(['Sebcd', 'a', 11]);
    expect(listIds(packByDensity(items, 30).packed)).toBe('Sebcad');
  });

  test('is at least half of the knapsack where no item is larger than half of the budget', () => {
    const drawn = fc.array(
      fc.record({ tokens: fc.integer({ min: 1, max: 9 }), score: fc.integer({ min: 0, max: 9 }) }),
      {
        maxLength: 9,
      },
    );
    const sum = ({ packed }: { readonly packed: readonly CountedItem[] }) =>
      packed.reduce((total, { score }) => total + score, 0);
    fc.assert(
      fc.property(drawn, fc.integer({ min: 18, max: 40 }), (all, budget) => {
        const items = all.map(({ tokens, score }, i) => countItem(String(i), tokens, { score }));
        expect(sum(packByDensity(items, budget))).toBeGreaterThanOrEqual(sum(packKnapsack(items, budget)) / 2);
        expect(packByDensity(items, budget).tokens).toBeLessThanOrEqual(budget);
      }),
      { numRuns: 50 },
    );
  });
});
