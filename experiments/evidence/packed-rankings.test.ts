import { expect, test } from 'vitest';
import type { Run } from '../../src/model/run.ts';
import { orderByDensity, orderByDrawnDensity, packRankings } from './packed-rankings.ts';

const TOKENS: Readonly<Record<string, number>> = { a: 40, b: 10, c: 5, d: 80 };
const countTokens = (id: string) => TOKENS[id] as number;
/** Shares of .5, .25, .125, .125. */
const run: Run = new Map([
  ['q', ['a', 'b', 'c', 'd'].map((id, i) => ({ id, score: [3, 2, 1, 1][i]! * Math.LN2 - 9 }))],
]);
const listIds = (ranked: Run) => ranked.get('q')?.map(({ id }) => id);

test('packings take what fits: in order, by the largest sum of shares, by share per token', () => {
  expect(listIds(packRankings(run, 'in-order', 50, countTokens))).toEqual(['a', 'b']);
  expect(listIds(packRankings(run, 'in-order', 39, countTokens))).toEqual([]);
  expect(listIds(packRankings(run, 'knapsack', 54, countTokens))).toEqual(['a', 'b']);
  expect(listIds(packRankings(run, 'density', 54, countTokens))).toEqual(['b', 'c']); // .025 each, then a does not fit
  expect(packRankings(run, 'in-order', 50, countTokens).get('q')).toEqual([
    { id: 'a', score: 2 },
    { id: 'b', score: 1 },
  ]);
});

test('an order by density has every turn; a drawn one has the same turns and does not depend on other queries', () => {
  expect(listIds(orderByDensity(run, countTokens))).toEqual(['b', 'c', 'a', 'd']);
  const drawn = orderByDrawnDensity(run, countTokens, 7);
  expect(listIds(drawn)?.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  const [ranking] = run.values();
  const more = new Map([['p', ranking!], ...run]);
  expect(orderByDrawnDensity(more, countTokens, 7).get('q')).toEqual(drawn.get('q'));
  const orders = new Set(
    Array.from({ length: 20 }, (_, seed) => listIds(orderByDrawnDensity(run, countTokens, seed))?.join('')),
  );
  expect(orders.size).toBeGreaterThan(2);
});
