import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { buildSingletonClusters, groupIntoClusters } from '../intervals/mean-intervals.ts';
import { type FlippedColumn, MOST_SAMPLES, signFlipCounter, signFlipPermutation } from './sign-flip-permutation.ts';

function computeFlipP(
  differences: readonly number[],
  clusters = buildSingletonClusters(differences.length),
  samples = 10_000,
): number {
  return signFlipPermutation([differences], clusters, { samples, seed: 11 })[0]?.p as number;
}

test('agrees with scipy where it is exact', () => {
  // scipy 1.17.1: permutation_test((differences,), mean, permutation_type='samples', n_resamples=inf)
  const differences = [0.12, -0.31, 0.44, 0.27, -0.05, 0.61, 0.33, -0.18, 0.09, 0.52, 0.4];
  const [test] = signFlipPermutation([differences], buildSingletonClusters(11), { seed: 11 });
  expect(test).toMatchObject({ p: 0.0517578125, exact: true });
  expect(test?.meanDifference).toBeCloseTo(2.24 / 11, 14);
});

test('sampling comes near the exact p', () => {
  const few = [0.31, -0.12, 0.43, 0.17, -0.59, 0.97, 0.23, -0.61, 0.53, 0.37, 0.59, 0.83];
  const exact = signFlipPermutation([few], buildSingletonClusters(12), { seed: 11 })[0];
  const sampled = signFlipPermutation([[...few, 1e-9]], buildSingletonClusters(13), { samples: 40_000, seed: 11 })[0];
  expect([exact?.exact, sampled?.exact]).toEqual([true, false]);
  // Three standard errors of 40,000 draws at p = 0.1.
  expect(Math.abs((sampled?.p as number) - (exact?.p as number))).toBeLessThan(0.0045);
});

test('flips a cluster as a whole', () => {
  const clusters = groupIntoClusters(['x', 'x', 'x', 'y', 'y', 'z']);
  // The sums 0.6, 0.7, 0.3 all point one way: 2 of 8 sign vectors are as extreme.
  expect(computeFlipP([0.1, 0.3, 0.2, 0.5, 0.2, 0.3], clusters)).toBe(2 / 8);
  expect(computeFlipP([0.1, 0.3, 0.2, 0.5, 0.2, 0.3])).toBe(2 / 64);
});

test('groups whose differences cancel change nothing', () => {
  const labels = Array.from({ length: 30 }, (_, i) => `g${Math.floor(i / 2)}`);
  const differences = labels.map((_, i) => (i < 6 ? 1 : i % 2 === 0 ? 0.7 : -0.7));
  const [test] = signFlipPermutation([differences], groupIntoClusters(labels), { seed: 11 });
  expect(test).toMatchObject({ p: 2 / 8, exact: true });
});

test('a system that equals the baseline has p 1', () => {
  expect(computeFlipP(new Array(17).fill(0))).toBe(1);
});

test('a sampled p is never 0', () => {
  expect(computeFlipP(new Array(101).fill(1), undefined, 997)).toBe(1 / 998);
});

test('does not depend on the sign, nor on the other columns', () => {
  const column = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 17, maxLength: 17 });
  fc.assert(
    fc.property(column, column, (differences, other) => {
      const negated = differences.map((difference) => -difference);
      const [first, second, third] = signFlipPermutation([differences, other, negated], buildSingletonClusters(17), {
        samples: 199,
        seed: 3,
      });
      expect(third?.p).toBe(first?.p);
      expect(signFlipPermutation([other], buildSingletonClusters(17), { samples: 199, seed: 3 })[0]).toEqual(second);
      expect(first?.p).toBeGreaterThan(0);
      expect(first?.p).toBeLessThanOrEqual(1);
    }),
    { numRuns: 50 },
  );
});

test('under the null hypothesis p is uniform, also when clusters are strongly correlated', () => {
  const stream = createRandom(5, 'test');
  const clusters = groupIntoClusters(Array.from({ length: 23 * 7 }, (_, i) => `g${i % 23}`));
  const columns = Array.from({ length: 199 }, () => {
    const shared = Array.from({ length: 23 }, () => stream.drawNormal());
    return Float64Array.from(clusters.of, (group) => (shared[group] as number) + 0.1 * stream.drawNormal());
  });
  const measureRejected = (tests: { p: number }[]) => tests.filter(({ p }) => p < 0.1).length / tests.length;
  expect(measureRejected(signFlipPermutation(columns, clusters, { samples: 499, seed: 7 }))).toBeLessThan(0.17);
  expect(
    measureRejected(signFlipPermutation(columns, buildSingletonClusters(23 * 7), { samples: 499, seed: 7 })),
  ).toBeGreaterThan(0.3);
});

test('refuses a wrong number of samples', () => {
  expect(() => computeFlipP([1, 2], buildSingletonClusters(2), 0)).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'samples is not a whole number from 1: 0; pass one, such as 10000',
    }),
  );
});

test('no p is below that of two sign vectors', () => {
  // 13 groups, all one way: 2 of 2^13 are as extreme, and a single draw meets them rarely.
  const ps = Array.from({ length: 40 }, (_, seed) => computeSeededP(seed));
  expect(Math.min(...ps)).toBe(2 ** -12);
});

function computeSeededP(seed: number): number {
  return signFlipPermutation([new Array(13).fill(1)], buildSingletonClusters(13), { samples: 9973, seed })[0]
    ?.p as number;
}

describe('rounds of draws', () => {
  const stream = createRandom(31, 'rounds test');
  const columns = [0.3, 0, 0.6].map((shift) => Array.from({ length: 41 }, () => shift + stream.drawNormal()));
  const exact = Array.from({ length: 41 }, (_, g) => (g < 5 ? 1 : 0));
  const options = { samples: 997, seed: 11 };

  test('go on for the columns that want more, and draw as many as before each time', () => {
    const asked: number[][] = [];
    const tests = signFlipPermutation([...columns, exact], buildSingletonClusters(41), {
      ...options,
      wantsMore: (soFar) => {
        asked.push(soFar.map(({ samples }) => samples));
        return [false, asked.length < 4, asked.length < 3, true];
      },
    });
    expect(asked).toEqual([
      [997, 997, 997, 0],
      [997, 2 * 997, 2 * 997, 0],
      [997, 4 * 997, 4 * 997, 0],
      [997, 8 * 997, 4 * 997, 0],
    ]);
    expect(tests.map(({ samples }) => samples)).toEqual(asked.at(-1));
    expect(tests[3]).toMatchObject({ exact: true, p: 2 / 32, low: 2 / 32, high: 2 / 32 });
  });

  test('end at the most samples', () => {
    let rounds = 0;
    const [test] = signFlipPermutation([columns[0] as number[]], buildSingletonClusters(41), {
      samples: 10_000,
      seed: 11,
      wantsMore: () => {
        rounds++;
        return [true];
      },
    });
    expect(test?.samples).toBe(MOST_SAMPLES);
    expect(rounds).toBe(7);
  });

  test('give no more than one round of a number above the most', () => {
    const [test] = signFlipPermutation([[...columns[0]!.slice(0, 13)]], buildSingletonClusters(13), {
      samples: MOST_SAMPLES + 1,
      seed: 11,
      wantsMore: () => [true],
    });
    expect(test?.samples).toBe(MOST_SAMPLES + 1);
  });

  test('of a column are the same with any other columns, in any order', () => {
    const wantsFewSamples = (tests: readonly { samples: number }[]) => tests.map(({ samples }) => samples < 4000);
    const all = signFlipPermutation(columns, buildSingletonClusters(41), { ...options, wantsMore: wantsFewSamples });
    const turned = signFlipPermutation(columns.toReversed(), buildSingletonClusters(41), {
      ...options,
      wantsMore: wantsFewSamples,
    });
    const [alone] = signFlipPermutation([columns[1] as number[]], buildSingletonClusters(41), {
      ...options,
      wantsMore: wantsFewSamples,
    });
    expect(turned.toReversed()).toEqual(all);
    expect(alone).toEqual(all[1]);
  });
});

test('a p that is smaller than the most samples can show needs no more of them', () => {
  // 41 groups all one way reach their sum with a chance of at most 2 exp(-41 / 2); 26 groups do with 2 exp(-13), which is above 1 / 1,000,001.
  const buildOneWay = (groups: number) => Array.from({ length: 41 }, (_, g) => (g < groups ? 0.5 : 0));
  const rounds: number[][] = [];
  const [sure, drawn] = signFlipPermutation([buildOneWay(41), buildOneWay(26)], buildSingletonClusters(41), {
    samples: 997,
    seed: 11,
    wantsMore: (tests) => {
      rounds.push(tests.map(({ samples }) => samples));
      return [true, rounds.length < 4];
    },
  });
  expect(sure).toMatchObject({ p: 1 / 1_000_001, low: 1 / 1_000_001, high: 1 / 1_000_001, samples: 997, exact: false });
  expect(drawn?.samples).toBeGreaterThan(997);
  const [unasked] = signFlipPermutation([buildOneWay(41)], buildSingletonClusters(41), { samples: 997, seed: 11 });
  expect(unasked).toMatchObject({ p: 1 / 998, samples: 997 });
});

test('the Monte Carlo interval holds the exact p, and narrows with the samples', () => {
  const few = [0.31, -0.12, 0.43, 0.17, -0.59, 0.97, 0.23, -0.61, 0.53, 0.37, 0.59, 0.83];
  const p = computeFlipP(few, buildSingletonClusters(12));
  for (const [samples, width] of [
    [1000, 0.065],
    [16_000, 0.0165],
  ] as const) {
    const [sampled] = signFlipPermutation([[...few, 1e-9]], buildSingletonClusters(13), { samples, seed: 11 });
    expect(sampled?.low).toBeLessThan(p);
    expect(sampled?.high).toBeGreaterThan(p);
    expect((sampled?.high as number) - (sampled?.low as number)).toBeLessThan(width);
  }
});

const GROUPS = 19;
const stream = createRandom(3, 'sign-flip-counter test');

function drawFlippedColumn(threshold: number): FlippedColumn {
  return { sums: Float64Array.from({ length: GROUPS }, () => stream.drawNormal()), threshold };
}

/** One flip after the other, from the stream that the counter's first call draws from. */
function countOneByOne({ sums, threshold }: FlippedColumn, seed: number, samples: number): number {
  const flips = createRandom(seed, 'sign-flip-permutation');
  let hits = 0;
  for (let sample = 0; sample < samples; sample++) {
    let total = 0;
    for (const sum of sums) total += flips.integer(2) === 1 ? sum : -sum;
    if (Math.abs(total) >= threshold) hits++;
  }
  return hits;
}

describe('the count of a column', () => {
  const columns = [drawFlippedColumn(3), drawFlippedColumn(5), drawFlippedColumn(0)];

  test.each([1, 97, 4096, 10_007])('is that of summing flip by flip, of %i samples', (samples) => {
    const counted = signFlipCounter(GROUPS, 11)(columns, samples);
    expect(counted).toEqual(columns.map((column) => countOneByOne(column, 11, samples)));
  });

  test('does not depend on the columns beside it, in any round', () => {
    const [together, alone] = [signFlipCounter(GROUPS, 11), signFlipCounter(GROUPS, 11)];
    const second = columns[1] as FlippedColumn;
    for (const samples of [997, 5003]) {
      const counts = together(columns, samples);
      expect(alone([second], samples)).toEqual([counts[1]]);
      expect(counts[2]).toBe(samples);
    }
  });

  test('in later rounds is that of fair and independent flips', () => {
    const column = { sums: Float64Array.from({ length: GROUPS }, (_, g) => (g < 4 ? 1 : 0)), threshold: 4 };
    const count = signFlipCounter(GROUPS, 11);
    count([column], 1);
    // Four signs are alike in 2 of 16 sign vectors; five standard errors of 100,000 draws.
    expect(Math.abs((count([column], 100_000)[0] as number) / 100_000 - 1 / 8)).toBeLessThan(0.0053);
  });

  test.each([1, 2, 3])('gives each group of a later round its own signs, seed %i', (seed) => {
    const buildFlipPair = (a: number, b: number) => ({
      sums: Float64Array.from({ length: GROUPS }, (_, g) => (g === a || g === b ? 1 : 0)),
      threshold: 2,
    });
    const count = signFlipCounter(GROUPS, seed);
    count([buildFlipPair(0, 1)], 1);
    const pairs = Array.from({ length: GROUPS - 1 }, (_, g) => buildFlipPair(g, g + 1));
    for (const hits of count(pairs, 20_000)) expect(Math.abs(hits / 20_000 - 1 / 2)).toBeLessThan(0.018);
  });
});
