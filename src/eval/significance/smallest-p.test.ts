import { describe, expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { buildSingletonClusters, type Clusters, groupIntoClusters } from '../intervals/clusters.ts';
import { compareAllPairs } from './all-pairs.ts';
import { compareRepeated, compareWithBaseline, computeClusteredTests } from './significance.ts';
import { computeSmallestCorrectedP, computeSmallestP, LEAST_TRUSTED } from './smallest-p.ts';
import { type CorrectionName, TESTS, type TestName } from './test-names.ts';
import { isSignificant } from './verdict.ts';

const LARGE = 1 / 1_000_001;

test.each([
  ['permutation', 1, 1],
  ['permutation', 4, 2 / 16],
  ['permutation', 6, 2 / 64],
  ['permutation', 201, LARGE],
  ['wilcoxon', 4, 2 / 16],
  ['t', 1, 1],
  ['t', 2, 1],
  ['t', 3, 2 / 8],
  ['t', 6, 2 / 64],
  ['t', 29, 2 ** -28],
  ['t', 30, 0],
] as const)('%s of %i clusters', (name, clusters, expected) => {
  expect(computeSmallestP(name, clusters)).toBeCloseTo(expected, 15);
});

test.each([
  ['holm', 7 * 2 ** -5],
  ['benjamini-hochberg', 2 ** -5],
  ['none', 2 ** -5],
] as const)('%s of seven columns of 6 clusters', (correction, expected) => {
  expect(computeSmallestCorrectedP('permutation', correction, 6, 7)).toBeCloseTo(expected, 15);
});

test('a correction gives no p above 1', () => {
  expect(computeSmallestCorrectedP('permutation', 'holm', 4, 17)).toBe(1);
});

test.each(['permutation', 'wilcoxon', 't'] as const)('differences all one way reach it: %s', (name) => {
  for (const [groups, columns] of [
    [1, 2],
    [2, 1],
    [5, 3],
    [11, 1],
  ] as const) {
    const clusters = groupIntoClusters(Array.from({ length: 2 * groups }, (_, i) => `g${i % groups}`));
    const ones = Array.from({ length: columns }, () => new Float64Array(2 * groups).fill(0.5));
    for (const correction of ['holm', 'none'] as CorrectionName[])
      for (const { correctedP } of computeClusteredTests(ones, clusters, {
        test: name,
        correction,
        seed: 3,
        samples: 997,
      }))
        expect(correctedP).toBe(computeSmallestCorrectedP(name, correction, groups, columns));
  }
});

test('no differences get below it', () => {
  const stream = createRandom(5, 'smallest-p test');
  for (const name of ['permutation', 'wilcoxon', 't'] as TestName[])
    for (let groups = 2; groups <= 17; groups += 3) {
      const clusters = groupIntoClusters(Array.from({ length: 3 * groups }, (_, i) => `g${i % groups}`));
      const columns = Array.from({ length: 5 }, () => Float64Array.from(clusters.of, () => 3 + stream.drawNormal()));
      for (const { p } of computeClusteredTests(columns, clusters, { test: name, seed: 3, samples: 997 }))
        expect(p).toBeGreaterThanOrEqual(computeSmallestP(name, groups));
    }
});

const ARMS = 25;
const LEVEL = 0.95;
/** The difference of two systems that differ by nothing, in one cluster. */
const NULLS: Readonly<Record<string, (random: Random) => number>> = {
  normal: (random) => random.drawNormal(),
  uniform: (random) => random.uniform() - 0.5,
  skewed: (random) => Math.exp(random.drawNormal()) - Math.exp(random.drawNormal()),
  'two-valued': (random) => (random.uniform() < 0.5 ? -1 : 1),
};

/** The expected number of false marks in a table of 25 arms, and in a table of one. */
function measureFalseMarks(
  clusters: Clusters,
  name: TestName,
  draw: (random: Random) => number,
  tables: number,
): { readonly ofMany: number; readonly ofOne: number } {
  const random = createRandom(17, `few-clusters test ${clusters.of.length}`);
  let [ofMany, ofOne] = [0, 0];
  for (let seed = 0; seed < tables; seed++) {
    const columns = Array.from({ length: ARMS }, () => {
      const shared = Array.from(clusters.sizes, () => draw(random));
      return Float64Array.from(clusters.of, (cluster) => shared[cluster] as number);
    });
    for (const { p, correctedP } of computeClusteredTests(columns, clusters, { test: name, level: LEVEL, seed })) {
      if (isSignificant(correctedP, LEVEL)) ofMany++;
      if (isSignificant(p, LEVEL)) ofOne++;
    }
  }
  return { ofMany: ofMany / tables, ofOne: ofOne / (tables * ARMS) };
}

describe('systems that differ by nothing get fewer than .06 marks a table', () => {
  const cases = [
    ...[3, 6, 10, 20].map((count) => ['t', count] as const),
    ...[6, 12].flatMap((count) => [['wilcoxon', count] as const, ['permutation', count] as const]),
  ];
  for (const [name, count] of cases)
    test.each(Object.entries(NULLS))(`${name}, ${count} clusters: %s`, (_, draw) => {
      const { ofMany, ofOne } = measureFalseMarks(buildSingletonClusters(count), name, draw, 500);
      expect(ofMany).toBeLessThan(0.06);
      expect(ofOne).toBeLessThan(0.06);
    });

  test.each(Object.entries(NULLS))('t, 8 clusters of 1 to 28 queries: %s', (_, draw) => {
    const sizes = Array.from({ length: 8 }, (__, cluster) =>
      new Array(Math.ceil(1 + (cluster * cluster * 27) / 49)).fill(`c${cluster}`),
    );
    const { ofMany, ofOne } = measureFalseMarks(groupIntoClusters(sizes.flat()), 't', draw, 200);
    expect(ofMany).toBeLessThan(0.06);
    expect(ofOne).toBeLessThan(0.06);
  });
});

test('differences that are skewed around a mean of 0 get more, by any test', () => {
  const drawExponential = (random: Random) => -Math.log(1 - random.uniform()) - 1;
  for (const name of TESTS) {
    const { ofOne } = measureFalseMarks(buildSingletonClusters(10), name, drawExponential, 60);
    expect(ofOne).toBeGreaterThan(0.06);
    expect(ofOne).toBeLessThan(0.12);
  }
});

describe('six clusters that all gain about the same decide one comparison and not 25', () => {
  const clusters = buildSingletonClusters(6);
  const base = Float64Array.of(0.2, 0.3, 0.1, 0.4, 0.2, 0.3);
  const gained = base.map((value, i) => value + 0.1 + i / 1000);
  const options = { samples: 100, seed: 1, level: LEVEL };
  const repeat = <T>(value: T, times = ARMS): T[] => new Array<T>(times).fill(value);

  test.each(TESTS)('%s', (name) => {
    for (const [arms, verdict] of [
      [1, 'better'],
      [ARMS, 'undecided'],
    ] as const)
      for (const found of compareWithBaseline(repeat(gained, arms), base, clusters, { ...options, test: name }))
        expect(found).toMatchObject({ p: 2 / 64, signFlipP: 2 / 64, clusterWins: 6, verdict });
    const { pairs } = compareAllPairs([base, ...repeat(gained, 4)], clusters, { ...options, test: name });
    expect(pairs.every(({ better }) => better === null)).toBe(true);
  });

  test('with several seeds', () => {
    const seeds = [0, 0.001, 0.002].map((shift) => [gained.map((value) => value + shift), base] as const);
    expect(compareRepeated([seeds], clusters, options)[0]).toMatchObject({ p: 2 / 64, verdict: 'better' });
    for (const found of compareRepeated(repeat(seeds), clusters, options))
      expect(found).toMatchObject({ p: 2 / 64, correctedP: (25 * 2) / 64, verdict: 'undecided' });
  });
});

test('the t test decides alone from 30 clusters on', () => {
  const computeP = (count: number) =>
    computeClusteredTests([new Float64Array(count).fill(1)], buildSingletonClusters(count), { test: 't', seed: 1 })[0]
      ?.p;
  expect([LEAST_TRUSTED - 1, LEAST_TRUSTED].map(computeP)).toEqual([2 ** -28, 0]);
});
