import { expect, test } from 'vitest';
import { createRandom } from '../core/random.ts';
import { compareAllPairs } from './all-pairs.ts';
import { buildSingletonClusters } from './clusters.ts';
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

test('equal systems share a group', () => {
  const [first] = systems as [number[]];
  expect(compareAllPairs([first, first, first], clusters, options).groups).toEqual([[0, 1, 2]]);
  expect(() => compareAllPairs([first], clusters, options)).toThrow('all pairs of 1 systems are none; pass at least 2');
});
