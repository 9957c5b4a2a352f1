import { describe, expect, test } from 'vitest';
import { random } from '../core/random.ts';
import { clusterBy, unclustered } from './clusters.ts';
import { type CorrectionName, clusteredPs, compareWithBaseline, isSignificant, TESTS } from './significance.ts';

const stream = random(7, 'test');
const clusters = clusterBy(Array.from({ length: 211 }, (_, i) => `g${i % 53}`));
const baseline = Float64Array.from({ length: 211 }, () => stream.uniform());
const shiftedBy = (shift: number) => baseline.map((value) => value + shift + 0.3 * stream.normal());
const options = { samples: 1999, seed: 3 };

test('marks only what the corrected p allows', () => {
  const systems = [shiftedBy(0.2), shiftedBy(-0.2), baseline, shiftedBy(0)];
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
  const slight = shiftedBy(0.055);
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
  const few = clusterBy(['a', 'a', 'b', 'c', 'c', 'd', 'e']);
  const base = [0.5, 0.5, 0.25, 0, 1, 0.5, 0.2];
  const system = [1, 0.25, 0.25, 1, 1, 1, 0.1 + 0.1]; // 0.5, -0.25, 0, 1, 0, 0.5, 0 above the baseline
  const [comparison] = compareWithBaseline([system], base, few, options);

  test('how many queries it wins, ties and loses, whatever the last digit of a sum', () => {
    expect(comparison).toMatchObject({ wins: 3, ties: 3, losses: 1 });
    const [rounded] = compareWithBaseline([[0.1 + 0.2, 1]], [0.3, 0], clusterBy(['a', 'b']), options);
    expect(rounded).toMatchObject({ wins: 1, ties: 1, losses: 0 });
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
  const systems = [shiftedBy(0.2), shiftedBy(-0.2), shiftedBy(0), shiftedBy(0)];
  for (const name of TESTS) {
    const verdicts = compareWithBaseline(systems, baseline, clusters, { ...options, test: name });
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['better', 'worse', 'undecided', 'undecided']);
  }
  const of = (correction: CorrectionName) =>
    compareWithBaseline(systems, baseline, clusters, { ...options, correction });
  const raw = of('none').map(({ p }) => p);
  expect(of('none').map(({ correctedP }) => correctedP)).toEqual(raw);
  const sorted = raw.toSorted((a, b) => a - b);
  // Four p values; the two smallest are equal, so Holm gives both 4 p and Benjamini and Hochberg both 4 p / 2.
  expect(sorted[0]).toBe(sorted[1]);
  expect(of('holm')[0]?.correctedP).toBeCloseTo(4 * (sorted[0] as number), 12);
  expect(of('benjamini-hochberg')[0]?.correctedP).toBeCloseTo(2 * (sorted[0] as number), 12);
});

describe('each test gives its own p', () => {
  const values = Float64Array.of(0.12, -0.31, 0.44, 0.27, -0.05, 0.61, 0.33, -0.18, 0.09, 0.52, 0.4);

  // scipy 1.17.1: ttest_1samp(values, 0) and wilcoxon(values), exact; all 2^11 sign vectors, 106 of them as extreme.
  test.each([
    ['permutation', 106 / 2048],
    ['t', 0.04556148979350988],
    ['wilcoxon', 0.0537109375],
  ] as const)('%s', (name, p) => {
    expect(clusteredPs([values], unclustered(11), { ...options, test: name })[0]).toBeCloseTo(p, 12);
  });

  test('wilcoxon by the normal approximation with more groups', () => {
    const ranked = Float64Array.of(
      ...[3, 1, -2, 4, 2, 7, 5, -1, 1, 8, -4, 1, 2],
      ...[6, 1, -1, 3, 2, -2, 2, 4, 1, -3, 2, 1, 5],
    );
    const pairs = clusterBy(Array.from(ranked, (_, i) => `g${i % 13}`));
    // scipy 1.17.1: ranks of rankdata(abs), signed and summed by group; 2 norm.sf(sum / sqrt(sum of squares))
    expect(clusteredPs([ranked], pairs, { ...options, test: 'wilcoxon' })[0]).toBeCloseTo(0.012129564631525333, 12);
  });
});

test('a p that equals the bound says nothing, whatever the last digit of 1 - level', () => {
  expect(1 - 0.95).toBeGreaterThan(0.05);
  expect([0.05, 0.05 - 1e-9].map((p) => isSignificant(p, 0.95))).toEqual([false, true]);
  expect([0.01, 0.01 - 1e-9].map((p) => isSignificant(p, 0.99))).toEqual([false, true]);
});
