import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { listLetterGroups } from './letter-display.oracle.ts';
import { groupByLetters, nameLetter } from './letter-display.ts';

test('labels go on after z', () => {
  expect([0, 1, 25, 26, 27, 51, 52, 701, 702].map(nameLetter)).toEqual([
    'a',
    'b',
    'z',
    'aa',
    'ab',
    'az',
    'ba',
    'zz',
    'aaa',
  ]);
});

test('items that do not differ share a group, without a pair all do, with every pair none', () => {
  expect(groupByLetters([2, 0, 1], [])).toEqual([[2, 0, 1]]);
  expect(groupByLetters([2, 0, 1], [[1, 2]])).toEqual([
    [2, 0],
    [0, 1],
  ]);
  expect(
    groupByLetters(
      [2, 0, 1],
      [
        [0, 1],
        [2, 1],
        [0, 2],
      ],
    ),
  ).toEqual([[2], [0], [1]]);
  expect(groupByLetters([], [])).toEqual([[]]);
});

/** The example of the paper's kind: T1 differs from T7 and T8, T2 from T8, as in R's multcompView. */
test('groups overlap where the relation is not transitive', () => {
  const pairs = [
    [0, 3],
    [0, 4],
    [1, 4],
  ] as const;
  expect(groupByLetters([0, 1, 2, 3, 4], pairs)).toEqual([
    [0, 1, 2],
    [1, 2, 3],
    [2, 3, 4],
  ]);
});

test('the groups are those of brute force, for any relation', () => {
  const relation = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })).filter(([a, b]) => a < b),
    { selector: ([a, b]) => `${a} ${b}`, maxLength: 21 },
  );
  fc.assert(
    fc.property(relation, (pairs) => {
      const order = [3, 0, 6, 1, 5, 2, 4];
      const differing = new Set(pairs.flatMap(([a, b]) => [`${a} ${b}`, `${b} ${a}`]));
      expect(groupByLetters(order, pairs)).toEqual(listLetterGroups(order, (a, b) => differing.has(`${a} ${b}`)));
    }),
  );
});

/** Comparing every group with every other one after each pair takes 46 s here. */
test('ninety systems with overlapping groups are grouped in seconds', () => {
  const items = Array.from({ length: 90 }, (_, i) => i);
  const random = createRandom(7, 'letters');
  const pairs = items.flatMap((a) =>
    items.filter((b) => b - a > 20 + 20 * random.uniform()).map((b) => [a, b] as const),
  );
  const groups = groupByLetters(items, pairs);
  expect(groups[0]).toContain(0);
  expect(groups.at(-1)).toContain(89);
  expect(new Set(groups.flat()).size).toBe(90);
}, 20_000);
