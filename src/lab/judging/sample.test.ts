import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { sampleByStratum } from './sample.ts';

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
