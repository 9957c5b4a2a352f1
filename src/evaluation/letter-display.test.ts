import fc from 'fast-check';
import { expect, test } from 'vitest';
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

test('two items share a group exactly if they do not differ, and no group is within another', () => {
  const relation = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })).filter(([a, b]) => a < b),
    { selector: ([a, b]) => `${a} ${b}` },
  );
  fc.assert(
    fc.property(relation, (pairs) => {
      const groups = groupByLetters([3, 0, 6, 1, 5, 2, 4], pairs);
      const differing = new Set(pairs.map(([a, b]) => `${a} ${b}`));
      for (let a = 0; a < 7; a++)
        for (let b = a + 1; b < 7; b++)
          expect(groups.some((group) => group.includes(a) && group.includes(b))).toBe(!differing.has(`${a} ${b}`));
      for (const [g, group] of groups.entries())
        expect(groups.some((other, o) => o !== g && group.every((item) => other.includes(item)))).toBe(false);
    }),
  );
});
