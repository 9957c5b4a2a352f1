import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import {
  buildSingletonClusters,
  clusteredTTest,
  estimateClusteredMean,
  groupIntoClusters,
} from '../intervals/mean-intervals.ts';
import { type CorrectionName, LEAST_TRUSTED, TESTS, type TestName } from './multiple-comparisons.ts';
import { countExactFlips, MOST_SAMPLES } from './sign-flip-permutation.ts';
import {
  type BaselineComparison,
  compareRepeated,
  compareWithBaseline,
  computeClusteredTests,
} from './significance.ts';
import { isSignificant } from './verdict.ts';

const stream = createRandom(7, 'test');
const clusters = groupIntoClusters(Array.from({ length: 211 }, (_, i) => `g${i % 53}`));
const baseline = Float64Array.from({ length: 211 }, () => stream.uniform());
const shiftBaseline = (shift: number) => baseline.map((value) => value + shift + 0.3 * stream.drawNormal());
const options = { samples: 1999, seed: 3 };

test('marks only what the corrected p allows', () => {
  const systems = [shiftBaseline(0.2), shiftBaseline(-0.2), baseline, shiftBaseline(0)];
  const comparisons = compareWithBaseline(systems, baseline, clusters, options);
  expect(comparisons.map(({ verdict }) => verdict)).toEqual(['better', 'worse', 'undecided', 'undecided']);
  const [better, worse, same] = comparisons;
  expect(better?.p).toBe(1 / 2000);
  expect(better?.correctedP).toBe(4 / 2000);
  expect(better?.difference.low).toBeGreaterThan(0);
  expect(worse?.difference.high).toBeLessThan(0);
  expect(same).toMatchObject({ difference: { mean: 0, low: 0, high: 0 }, p: 1, correctedP: 1 });
});

test('the more systems, the more evidence a mark needs', () => {
  const slight = shiftBaseline(0.055);
  const [alone] = compareWithBaseline([slight], baseline, clusters, options);
  expect(alone?.verdict).toBe('better');
  expect(alone?.correctedP).toBe(alone?.p);
  const crowd = Array.from({ length: 19 }, () => baseline);
  const [crowded] = compareWithBaseline([slight, ...crowd], baseline, clusters, options);
  expect(crowded?.p).toBe(alone?.p);
  expect(crowded?.correctedP).toBeCloseTo(20 * (alone?.p as number), 12);
  expect(crowded?.verdict).toBe('undecided');
});

describe('a comparison tells', () => {
  const few = groupIntoClusters(['a', 'a', 'b', 'c', 'c', 'd', 'e']);
  const base = [0.5, 0.5, 0.25, 0, 1, 0.5, 0.2];
  const system = [1, 0.25, 0.25, 1, 1, 1, 0.1 + 0.1]; // 0.5, -0.25, 0, 1, 0, 0.5, 0 above the baseline
  const [comparison] = compareWithBaseline([system], base, few, options);

  test('how many queries it wins, ties and loses, whatever the last digit of a sum', () => {
    expect(comparison).toMatchObject({ wins: 3, ties: 3, losses: 1 });
    const [rounded] = compareWithBaseline([[0.1 + 0.2, 1]], [0.3, 0], groupIntoClusters(['a', 'b']), options);
    expect(rounded).toMatchObject({ wins: 1, ties: 1, losses: 0 });
  });

  test('in how many conversations its mean is better, the same and worse, and what their signs alone show', () => {
    // Sums by conversation .25, 0, 1, .5, 0: of the 2^3 signs of the three that differ, all the same ones reach 1.75.
    expect(comparison).toMatchObject({ clusterWins: 3, clusterTies: 2, clusterLosses: 0, signFlipP: 2 / 8 });
    for (const test of TESTS)
      expect(compareWithBaseline([base], system, few, { ...options, test })[0]).toMatchObject({
        ...{ clusterWins: 0, clusterTies: 2, clusterLosses: 3, signFlipP: 2 / 8 },
      });
    const [rounded] = compareWithBaseline(
      [[0.1 + 0.2, 1, 0]],
      [0.3, 0, 1],
      groupIntoClusters(['a', 'b', 'c']),
      options,
    );
    expect(rounded).toMatchObject({ clusterWins: 1, clusterTies: 1, clusterLosses: 1 });
  });

  test('the same of the means over several seeds', () => {
    const seeds = [0.3, -0.3, 0.1].map((shift) => [system.map((value) => value + shift - 0.1 / 3), base] as const);
    const [repeated] = compareRepeated([seeds], few, options);
    expect(repeated).toMatchObject({ wins: 3, ties: 3, losses: 1 });
    expect(repeated).toMatchObject({ clusterWins: 3, clusterTies: 2, clusterLosses: 0 });
    expect(repeated?.signFlipP).toBe(2 / 8);
    const [two] = compareRepeated(
      [
        [
          [
            [1, 0.5, 0.5],
            [0, 0, 0.25],
          ],
        ],
      ],
      groupIntoClusters(['a', 'a', 'b']),
      options,
    );
    expect(two).toMatchObject({ clusterWins: 2, clusterTies: 0, clusterLosses: 0, signFlipP: 2 / 4 });
  });

  test('the signs of 19 conversations by trying all of them, of 30 not at all', () => {
    const values = Float64Array.from({ length: LEAST_TRUSTED }, (_, i) => (i % 3) - 0.6);
    const compareFirst = (count: number) =>
      compareWithBaseline([values.slice(0, count)], new Float64Array(count), buildSingletonClusters(count), options)[0];
    const threshold = Math.abs(values.slice(0, 19).reduce((sum, value) => sum + value, 0)) - 1e-9;
    let hits = 0;
    for (let signs = 0; signs < 2 ** 19; signs++) {
      let total = 0;
      for (let i = 0; i < 19; i++) total += ((signs >> i) & 1 ? 1 : -1) * (values[i] as number);
      if (Math.abs(total) >= threshold) hits++;
    }
    expect(compareFirst(19)?.signFlipP).toBe(hits / 2 ** 19);
    expect(compareFirst(LEAST_TRUSTED - 1)?.signFlipP).toBeGreaterThan(0);
    expect(compareFirst(LEAST_TRUSTED)?.signFlipP).toBeNull();
  });

  test('the size of the effect, if the differences vary', () => {
    const mean = 1.75 / 7;
    const squares = [0.5, -0.25, 0, 1, 0, 0.5, 0].reduce((sum, d) => sum + (d - mean) ** 2, 0);
    expect(comparison?.effectSize).toBeCloseTo(mean / Math.sqrt(squares / 6), 12);
    const shifted = base.map((value) => value + 0.25);
    expect(compareWithBaseline([shifted], base, few, options)[0]?.effectSize).toBeNull();
  });

  test('what its queries could have shown', () => {
    // Sums 0.25, 0, 1, 0.5, 0 of groups of 2, 1, 2, 1, 1, less the mean for each query; scipy 1.17.1: stats.t.ppf([0.975, 0.8], 4).
    const residuals = [0.25 - 0.5, -0.25, 1 - 0.5, 0.5 - 0.25, -0.25];
    const squares = residuals.reduce((sum, u) => sum + u * u, 0);
    const error = Math.sqrt((squares * 5) / 4) / 7;
    expect(comparison?.minimumDetectable).toBeCloseTo(error * (2.77644511 + 0.94096458), 7);
  });
});

test('any of the tests and corrections finds what is there and nothing else', () => {
  const systems = [shiftBaseline(0.2), shiftBaseline(-0.2), shiftBaseline(0), shiftBaseline(0)];
  for (const name of TESTS) {
    const verdicts = compareWithBaseline(systems, baseline, clusters, { ...options, test: name });
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['better', 'worse', 'undecided', 'undecided']);
  }
  const compareCorrected = (correction: CorrectionName) =>
    compareWithBaseline(systems, baseline, clusters, { ...options, correction });
  const raw = compareCorrected('none').map(({ p }) => p);
  expect(compareCorrected('none').map(({ correctedP }) => correctedP)).toEqual(raw);
  const sorted = raw.toSorted((a, b) => a - b);
  // Four p values; the two smallest are equal, so Holm gives both 4 p and Benjamini and Hochberg both 4 p / 2.
  expect(sorted[0]).toBe(sorted[1]);
  expect(compareCorrected('holm')[0]?.correctedP).toBeCloseTo(4 * (sorted[0] as number), 12);
  expect(compareCorrected('benjamini-hochberg')[0]?.correctedP).toBeCloseTo(2 * (sorted[0] as number), 12);
});

describe('each test gives its own p', () => {
  const values = Float64Array.of(0.12, -0.31, 0.44, 0.27, -0.05, 0.61, 0.33, -0.18, 0.09, 0.52, 0.4);

  const computeP = (column: Float64Array, name: TestName) =>
    computeClusteredTests([column], buildSingletonClusters(column.length), { ...options, test: name })[0]?.p;

  // scipy 1.17.1: wilcoxon(values), exact; all 2^11 sign vectors, 106 of them as extreme.
  test.each([
    ['permutation', 106 / 2048],
    ['wilcoxon', 0.0537109375],
  ] as const)('%s', (name, p) => {
    expect(computeP(values, name)).toBeCloseTo(p, 12);
  });

  test('t, of enough groups', () => {
    // The density of t with 29 degrees of freedom by Simpson's rule.
    expect(
      computeP(
        Float64Array.from({ length: 30 }, (_, i) => values[i % 10] as number),
        't',
      ),
    ).toBeCloseTo(0.001814756295404226, 11);
  });

  test('of few groups the larger p of the test and of all signs', () => {
    // scipy 1.17.1: ttest_1samp(values, 0) is .0456, below the 106 / 2048 of the signs.
    expect(computeP(values, 't')).toBe(106 / 2048);
    // By Simpson's rule; 4 of 2^7 sign vectors are as extreme.
    const outlying = Float64Array.of(0.9, 0.05, 0.06, 0.07, 0.04, -0.01, 0.03);
    expect(computeP(outlying, 'permutation')).toBe(4 / 128);
    expect(computeP(outlying, 't')).toBeCloseTo(0.23451307150701742, 11);
  });

  test('wilcoxon by the normal approximation with more groups', () => {
    const ranked = Float64Array.of(
      ...[3, 1, -2, 4, 2, 7, 5, -1, 1, 8, -4, 1, 2],
      ...[6, 1, -1, 3, 2, -2, 2, 4, 1, -3, 2, 1, 5],
    );
    const pairs = groupIntoClusters(Array.from(ranked, (_, i) => `g${i % 13}`));
    // scipy 1.17.1: ranks of rankdata(abs), signed and summed by group; 2 norm.sf(sum / sqrt(sum of squares))
    expect(computeClusteredTests([ranked], pairs, { ...options, test: 'wilcoxon' })[0]?.p).toBeCloseTo(
      0.012129564631525333,
      12,
    );
  });
});

test('a p that equals the bound says nothing, whatever the last digit of 1 - level', () => {
  expect(1 - 0.95).toBeGreaterThan(0.05);
  expect([0.05, 0.05 - 1e-9].map((p) => isSignificant(p, 0.95))).toEqual([false, true]);
  expect([0.01, 0.01 - 1e-9].map((p) => isSignificant(p, 0.99))).toEqual([false, true]);
});

describe('a p near the bound', () => {
  const drawn = [
    -0.39, -0.11, 0.36, -0.08, -0.61, -0.6, 1.43, 0.47, 0.53, 1.43, 0.06, 0.47, 1.18, 0.49, 0.86, 0.31, -0.37,
  ];
  const raiseDrawn = (shift: number) => Float64Array.from(drawn, (value) => value + shift);
  const nothing = new Float64Array(17);
  const apart = buildSingletonClusters(17);
  const countExactP = (column: Float64Array) =>
    countExactFlips(column, Math.abs(column.reduce((sum, d) => sum + d, 0)) - 1e-9);
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);
  const compare = (columns: Float64Array[], more: object = {}) =>
    compareWithBaseline(columns, nothing, apart, { samples: 10_000, seed: 3, ...more });

  test.each([
    [0.007, 0.05548095703125, 'undecided'],
    [0.022, 0.0467071533203125, 'better'],
  ] as const)('gets samples until every seed says the same: raised by %d, p %d, %s', (shift, p, verdict) => {
    const column = raiseDrawn(shift);
    expect(countExactP(column)).toBe(p);
    const found = seeds.map((seed) => compare([column], { seed })[0] as BaselineComparison);
    for (const one of found) {
      expect(one).toMatchObject({ verdict, unresolved: false });
      expect(Math.abs(one.p - p)).toBeLessThan(4.5 * Math.sqrt((p * (1 - p)) / (one.samples as number)));
    }
    expect(found.filter(({ samples }) => samples === 10_000).length).toBeLessThan(seeds.length);
    expect(Math.max(...found.map(({ samples }) => samples as number))).toBeLessThan(MOST_SAMPLES);
  });

  test('is left open where the most samples do not decide, though it may be below', () => {
    const column = raiseDrawn(0.016);
    expect(countExactP(column)).toBe(0.0499114990234375);
    const found = [0, 1, 2].map((seed) => compare([column], { seed })[0]);
    for (const one of found)
      expect(one).toMatchObject({ verdict: 'undecided', unresolved: true, samples: MOST_SAMPLES });
    expect(found.some((one) => (one?.correctedP as number) < 0.05)).toBe(true);
  });

  test('is that of the level', () => {
    const column = raiseDrawn(0.022);
    expect(compare([column], { level: 0.953 })[0]?.samples).toBeGreaterThan(100_000);
    expect(compare([column], { level: 0.9 })[0]).toMatchObject({ samples: 10_000, verdict: 'better' });
    expect(compare([column], { level: 0.99 })[0]).toMatchObject({ samples: 10_000, verdict: 'undecided' });
  });

  test('is the corrected one: what Holm multiplies by two has its bound at half', () => {
    const [half, clear] = [raiseDrawn(0.075), raiseDrawn(0.4)];
    expect(countExactP(half)).toBeGreaterThan(0.023);
    expect(countExactP(half)).toBeLessThan(0.025);
    const [alone] = compare([half]);
    expect(alone).toMatchObject({ samples: 10_000, verdict: 'better' });
    const noise = raiseDrawn(-0.3);
    const [near, other] = compare([half, noise]);
    expect(near?.samples).toBeGreaterThan(10_000);
    expect(other).toMatchObject({ samples: 10_000, verdict: 'undecided', unresolved: false });
    // The clear one is decided first and leaves the other as if it were alone.
    expect(compare([half, clear])[0]).toMatchObject({ samples: 10_000, verdict: 'better' });
  });

  test.each(['holm', 'benjamini-hochberg', 'none'] as const)(
    'is the same in any order of the systems: %s',
    (correction) => {
      const columns = [0.016, 0.075, -0.1, 0.4, 0.022, 0.075].map(raiseDrawn);
      const found = compare(columns, { correction });
      for (const order of [
        [5, 4, 3, 2, 1, 0],
        [2, 0, 5, 3, 1, 4],
      ]) {
        const moved = compare(
          order.map((c) => columns[c] as Float64Array),
          { correction },
        );
        expect(moved).toEqual(order.map((c) => found[c]));
      }
      expect(compare(columns, { correction })).toEqual(found);
    },
  );

  test('a p that is exact, or of a test without draws, has no samples', () => {
    const few = buildSingletonClusters(5);
    const columns = [new Float64Array(5).fill(0.5)];
    expect(computeClusteredTests(columns, few, options)[0]).toEqual({
      p: 2 / 32,
      correctedP: 2 / 32,
      samples: null,
      unresolved: false,
    });
    for (const name of ['t', 'wilcoxon'] as const)
      expect(computeClusteredTests(columns, few, { ...options, test: name })[0]).toMatchObject({
        samples: null,
        unresolved: false,
      });
  });
});

describe('with few clusters', () => {
  const splitIntoGroups = (groups: number) =>
    groupIntoClusters(Array.from({ length: 4 * groups }, (_, i) => `g${i % groups}`));

  test.each(TESTS)('one or two decide nothing and have no interval: %s', (name) => {
    for (const groups of [1, 2]) {
      const by = splitIntoGroups(groups);
      const system = Float64Array.from(by.of, (_, i) => 0.5 + (i % 3) / 8);
      const [found] = compareWithBaseline([system], new Float64Array(4 * groups), by, { ...options, test: name });
      expect(found).toMatchObject({ verdict: 'undecided', minimumDetectable: null, wins: 4 * groups });
      expect(found?.difference).toMatchObject({ low: null, high: null });
      expect(found?.difference.mean).toBeCloseTo(system.reduce((sum, value) => sum + value, 0) / (4 * groups), 12);
      expect(found?.p).toBe(name === 't' ? 1 : 2 ** (1 - groups));
    }
  });

  test('the interval is that of the t test, up to 19 of them', () => {
    for (const groups of [4, 19]) {
      const by = splitIntoGroups(groups);
      const system = Float64Array.from(by.of, () => 0.2 + stream.drawNormal());
      const [found] = compareWithBaseline([system], new Float64Array(4 * groups), by, { ...options, test: 't' });
      const { mean, low } = (found as BaselineComparison).difference;
      const level = 1 - clusteredTTest(estimateClusteredMean(system, by));
      const [touching] = compareWithBaseline([system], new Float64Array(4 * groups), by, { ...options, level });
      const end = mean > 0 ? touching?.difference.low : touching?.difference.high;
      expect(end).toBeCloseTo(0, 9);
      expect(low).toBeLessThan(mean);
    }
  });
});

test('where less is better, verdicts and wins change sides, and differences and p stay', () => {
  const systems = [shiftBaseline(0.2), shiftBaseline(-0.2), baseline];
  const higher = compareWithBaseline(systems, baseline, clusters, options);
  const lower = compareWithBaseline(systems, baseline, clusters, { ...options, better: 'lower' });
  expect(lower.map(({ verdict }) => verdict)).toEqual(['worse', 'better', 'undecided']);
  for (const [i, one] of lower.entries()) {
    const { verdict: _, wins, losses, clusterWins, clusterLosses, ...same } = higher[i] as BaselineComparison;
    const swapped = { wins: losses, losses: wins, clusterWins: clusterLosses, clusterLosses: clusterWins };
    expect(one).toEqual({ ...same, ...swapped, verdict: one.verdict });
  }
});
