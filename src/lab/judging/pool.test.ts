import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createQrels, createRun } from '../../eval/trec/run-tables.ts';
import { type PoolOptions, poolRuns, sampleByStratum } from './pool.ts';

const WORDS = createRun({ q1: { a: 9, b: 8, c: 7 }, q2: { d: 3, e: 2 } });
const DENSE = createRun({ q1: { c: 0.9, f: 0.8, a: 0.1 }, q3: { g: 1 } });
const OPTIONS: PoolOptions = { depth: 2, seed: 1 };
const listPairs = (pairs: ReturnType<typeof poolRuns>) => pairs.map(({ queryId, id }) => `${queryId} ${id}`);

test('is the union of the first documents of every run, each once', () => {
  const pairs = listPairs(poolRuns([WORDS, DENSE], OPTIONS));
  expect([...pairs].sort()).toEqual(['q1 a', 'q1 b', 'q1 c', 'q1 f', 'q2 d', 'q2 e', 'q3 g']);
  const one = listPairs(poolRuns([WORDS, DENSE], { ...OPTIONS, depth: 1 }));
  expect([...one].sort()).toEqual(['q1 a', 'q1 c', 'q2 d', 'q3 g']);
});

test('keeps the documents of a query together', () => {
  const queries = poolRuns([WORDS, DENSE], OPTIONS).map(({ queryId }) => queryId);
  expect(queries.filter((id, i) => i > 0 && id !== queries[i - 1])).toHaveLength(2);
});

test('the order shows neither the system nor the rank', () => {
  const pooled = poolRuns([WORDS, DENSE], OPTIONS);
  expect(poolRuns([DENSE, WORDS], OPTIONS)).toEqual(pooled);
  const reversed = createRun({ q1: { b: 9, a: 8 }, q2: { e: 3, d: 2 } });
  expect(poolRuns([DENSE, reversed], OPTIONS)).toEqual(pooled);
  expect(poolRuns([WORDS, DENSE], { ...OPTIONS, seed: 2 })).not.toEqual(pooled);
  const ranks = Array.from({ length: 97 }, (_, i) => [`d${i}`, 97 - i] as const);
  const long = poolRuns([createRun({ q: Object.fromEntries(ranks) })], { depth: 97, seed: 5 });
  const places = long.map(({ id }) => Number(id.slice(1)));
  const rising = places.filter((place, i) => i > 0 && place > (places[i - 1] as number)).length;
  expect(rising).toBeGreaterThan(30); // 96 in the order of the run, 0 in its reverse, 48 of a random order
  expect(rising).toBeLessThan(66);
});

test('judged pairs are left out, and the others keep their order', () => {
  const judged = createQrels({ q1: { b: 0, z: 3 }, q2: { d: 1, e: 1 } });
  const rest = listPairs(poolRuns([WORDS, DENSE], { ...OPTIONS, judged }));
  const all = listPairs(poolRuns([WORDS, DENSE], OPTIONS));
  expect(rest).toEqual(all.filter((pair) => !['q1 b', 'q2 d', 'q2 e'].includes(pair)));
});

test('refuses no run and a depth that is none', () => {
  expect(() => poolRuns([], OPTIONS)).toThrow(ValidationError);
  expect(() => poolRuns([WORDS], { ...OPTIONS, depth: 0 })).toThrow(/depth of a pool is not a whole number from 1: 0/);
});

interface Item {
  readonly id: string;
  readonly stratum: string;
}

const buildItems = (stratum: string, count: number): Item[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${stratum}${i}`, stratum }));
const ITEMS = [...buildItems('exact', 50), ...buildItems('paraphrase', 41), ...buildItems('multi-hop', 3)];
const draw = (items: readonly Item[], share: number, seed = 1) =>
  sampleByStratum(items, { share, seed, getStratum: ({ stratum }) => stratum, getKey: ({ id }) => [id] });
const countOf = (items: readonly Item[], stratum: string) => items.filter((item) => item.stratum === stratum).length;

test('draws its share of every stratum, rounded up', () => {
  const drawn = draw(ITEMS, 0.2);
  expect(['exact', 'paraphrase', 'multi-hop'].map((stratum) => countOf(drawn, stratum))).toEqual([10, 9, 1]);
  expect(new Set(drawn).size).toBe(drawn.length);
  expect(draw(buildItems('x', 100), 0.07)).toHaveLength(7);
  expect(draw(ITEMS, 1)).toHaveLength(94);
});

test('depends on the seed and the items, not on their order', () => {
  expect(draw([...ITEMS].reverse(), 0.2)).toEqual(draw(ITEMS, 0.2));
  expect(draw(ITEMS, 0.2, 2)).not.toEqual(draw(ITEMS, 0.2));
  expect(draw(ITEMS, 0.2).map(({ id }) => id)).not.toEqual(ITEMS.slice(0, 20).map(({ id }) => id));
});

test('a larger share holds a smaller one', () => {
  expect(draw(ITEMS, 0.5)).toEqual(expect.arrayContaining(draw(ITEMS, 0.2)));
});

test.each([0, -0.2, 1.5, Number.NaN])('refuses the share %d', (share) => {
  expect(() => draw(ITEMS, share)).toThrow(ValidationError);
});
