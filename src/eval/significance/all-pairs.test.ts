import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { buildSingletonClusters } from '../intervals/mean-intervals.ts';
import { compareAllPairs, groupByLetters, nameLetter } from './all-pairs.ts';
import { listLetterGroups } from './letter-display.oracle.ts';
import { holm } from './multiple-comparisons.ts';
import { pairedTTest } from './student-t-test.ts';

const options = { seed: 3, samples: 999, level: 0.95 };
const clusters = buildSingletonClusters(41);

/** Four systems: 1 is clearly the best, 3 a little better than 0 and 2, which are equal but for noise. */
function drawSystems(): number[][] {
  const random = createRandom(5, 'all-pairs');
  const base = Array.from({ length: 41 }, () => random.uniform());
  return [0, 0.4, 0, 0.1].map((gain) => base.map((value) => value + gain + 0.2 * random.drawNormal()));
}
const systems = drawSystems();

test('every pair is tested once, and Holm corrects over all of them', () => {
  const { pairs, means } = compareAllPairs(systems, clusters, { ...options, test: 't' });
  expect(pairs.map(({ first, second }) => [first, second])).toEqual([
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ]);
  const gains = pairs.map(({ first, second }) =>
    Float64Array.from(systems[first] as number[], (value, q) => value - (systems[second]?.[q] as number)),
  );
  const ps = gains.map((gain) => pairedTTest(gain).p);
  for (const [i, corrected] of holm(ps).entries()) {
    expect(pairs[i]?.p).toBeCloseTo(ps[i] as number, 9);
    expect(pairs[i]?.correctedP).toBeCloseTo(corrected, 9);
    expect(pairs[i]?.difference).toBeCloseTo(
      (means[pairs[i]?.first ?? 0] ?? 0) - (means[pairs[i]?.second ?? 0] ?? 0),
      12,
    );
  }
});

test('letters say which systems one is better than, and which are undecided', () => {
  const { beaten, groups, pairs } = compareAllPairs(systems, clusters, options);
  expect(beaten[1]).toEqual([0, 2, 3]);
  expect(beaten[0]).toEqual([]);
  for (const { first, second, better } of pairs) {
    expect(groups.some((group) => group.includes(first) && group.includes(second))).toBe(better === null);
    if (better !== null) expect(beaten[better]).toContain(better === first ? second : first);
  }
  expect(groups[0]).toEqual([1]);
});

/** Holm by its definition: the i-th smallest of m p is multiplied by m - i + 1, and no corrected p is below that of a smaller p. */
function correctByDefinition(ps: readonly number[]): number[] {
  return ps.map((p) => {
    const before = ps.filter((other) => other <= p);
    const factors = before.map((other) => (ps.length - ps.filter((one) => one < other).length) * other);
    return Math.min(1, Math.max(...factors));
  });
}

test('Holm, letters and groups are those of brute force, for random systems', () => {
  const gain = fc.integer({ min: 0, max: 6 }).map((steps) => steps / 10);
  const tests = fc.constantFrom('t' as const, 'permutation' as const, 'wilcoxon' as const);
  fc.assert(
    fc.property(
      fc.array(gain, { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 1, max: 99 }),
      tests,
      (gains, seed, name) => {
        const random = createRandom(seed, 'oracle');
        const values = gains.map((own) => Array.from({ length: 17 }, () => own + random.uniform()));
        const few = buildSingletonClusters(17);
        const { pairs, means, beaten, groups } = compareAllPairs(values, few, { ...options, test: name });
        const corrected = correctByDefinition(pairs.map(({ p }) => p));
        for (const [i, pair] of pairs.entries()) expect(pair.correctedP).toBeCloseTo(corrected[i] as number, 12);
        const isDecided = (i: number) => !pairs[i]?.unresolved && (corrected[i] as number) < 0.05 - 1e-12;
        const beats = (a: number, b: number) =>
          pairs.some(
            ({ first, second }, i) => isDecided(i) && [first, second].includes(a) && [first, second].includes(b),
          ) && (means[a] as number) > (means[b] as number);
        const systems = gains.map((_, s) => s);
        expect(beaten).toEqual(systems.map((a) => systems.filter((b) => beats(a, b))));
        const order = systems.toSorted((a, b) => (means[b] as number) - (means[a] as number));
        expect(groups).toEqual(listLetterGroups(order, (a, b) => beats(a, b) || beats(b, a)));
      },
    ),
    { numRuns: 40 },
  );
});

test('where less is better, the lowest system beats the others and its group is first', () => {
  const clusters = buildSingletonClusters(40);
  const systems = [0.9, 0.1, 0.5].map((value) => Array.from({ length: 40 }, (_, i) => value + (i % 2) / 100));
  const { beaten, groups, means } = compareAllPairs(systems, clusters, { samples: 999, seed: 1, better: 'lower' });
  expect(beaten).toEqual([[], [0, 2], [0]]);
  expect(groups).toEqual([[1], [2], [0]]);
  expect(means[0]).toBeCloseTo(0.905, 12);
});

test('equal systems share a group', () => {
  const [first] = systems as [number[]];
  expect(compareAllPairs([first, first, first], clusters, options).groups).toEqual([[0, 1, 2]]);
  expect(() => compareAllPairs([first], clusters, options)).toThrow('all pairs of 1 systems are none; pass at least 2');
});

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
