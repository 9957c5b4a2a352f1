import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import {
  buildSingletonClusters,
  type Clusters,
  computeBootstrapIntervals,
  createWeightedSums,
  groupIntoClusters,
  type Interval,
} from './mean-intervals.ts';

const groups = [
  [0.1, 0.9],
  [0.2],
  [1, 1, 0.5],
  [0, 0],
  [0.25],
  [0, 0.1, 0.1, 0.2, 0.05],
  [0.33, 0.5],
  [0],
  [0.125, 0, 1],
  [0.2, 0.2],
  [0.9],
  [0.05, 0.1, 0],
  [0.143],
];
const values = groups.flat();
const clusters = groupIntoClusters(groups.flatMap((group, g) => group.map(() => `g${g}`)));

function bootstrapColumn(column: readonly number[], by: Clusters, options: object = {}): Interval {
  return computeBootstrapIntervals([column], by, { seed: 11, samples: 100_000, ...options })[0] as Interval;
}

test('agrees with scipy on clusters', () => {
  // scipy 1.17.1: bootstrap((sums, sizes), sum(sums) / sum(sizes), paired=True, method='BCa', n_resamples=400000), three seeds: low .1598 to .1600,
  // high .5024 to .5027. The percentile method gives .148 and .479.
  const { mean, low, high } = bootstrapColumn(values, clusters);
  expect(mean).toBeCloseTo(7.948 / 27, 14);
  expect(Math.abs(low - 0.1599)).toBeLessThan(0.0015);
  expect(Math.abs(high - 0.5025)).toBeLessThan(0.0025);
});

test('agrees with scipy without clusters, at another level', () => {
  // scipy 1.17.1: bootstrap((values,), mean, method='BCa', confidence_level=0.9, n_resamples=400000), six seeds:
  // low .1990 to .1998, high .4208 to .4217.
  const { low, high } = bootstrapColumn(values, buildSingletonClusters(values.length), { level: 0.9 });
  expect(Math.abs(low - 0.1994)).toBeLessThan(0.0015);
  expect(Math.abs(high - 0.4213)).toBeLessThan(0.0025);
});

test('covers the true mean about as often as it says, with clusters that are strongly correlated', () => {
  const stream = createRandom(5, 'test');
  const by = groupIntoClusters(Array.from({ length: 41 * 5 }, (_, i) => `g${i % 41}`));
  const columns = Array.from({ length: 199 }, () => {
    const shared = Array.from({ length: 41 }, () => stream.drawNormal());
    return Float64Array.from(by.of, (group) => (shared[group] as number) + 0.1 * stream.drawNormal());
  });
  const countCovering = (intervals: Interval[]) =>
    intervals.filter(({ low, high }) => low <= 0 && high >= 0).length / intervals.length;
  const covered = countCovering(computeBootstrapIntervals(columns, by, { samples: 999, level: 0.9, seed: 7 }));
  expect(covered).toBeGreaterThan(0.83);
  expect(covered).toBeLessThan(0.97);
  expect(
    countCovering(
      computeBootstrapIntervals(columns, buildSingletonClusters(41 * 5), { samples: 999, level: 0.9, seed: 7 }),
    ),
  ).toBeLessThan(0.75);
});

test('contains the mean, is finite, and shifts and turns with the values', () => {
  const column = fc.array(fc.constantFrom(0, 0.1, 1 / 3, 0.5, 1), { minLength: 23, maxLength: 23 });
  const by = groupIntoClusters(Array.from({ length: 23 }, (_, i) => `g${i % 7}`));
  fc.assert(
    fc.property(column, (one) => {
      const options = { samples: 997, seed: 3 };
      const shifted = one.map((value) => value + 5);
      const [plain, moved] = computeBootstrapIntervals([one, shifted], by, options) as [Interval, Interval];
      expect(plain.low).toBeLessThanOrEqual(plain.mean + 1e-12);
      expect(plain.high).toBeGreaterThanOrEqual(plain.mean - 1e-12);
      expect(moved.low).toBeCloseTo(plain.low + 5, 9);
      expect(moved.high).toBeCloseTo(plain.high + 5, 9);
      expect(computeBootstrapIntervals([shifted], by, options)[0]).toEqual(moved);
    }),
    { numRuns: 50 },
  );
});

test('values that are all equal give a point', () => {
  const { mean, low, high } = bootstrapColumn(new Array(27).fill(0.1), clusters, { samples: 997 });
  expect([low, high]).toEqual([mean, mean]);
  expect(mean).toBeCloseTo(0.1, 14);
});

test('two clusters are enough, one is not', () => {
  const { low, high } = bootstrapColumn([0, 0, 1], groupIntoClusters(['x', 'x', 'y']), { samples: 997 });
  expect([low, high]).toEqual([0, 1]);
  expect(() => bootstrapColumn([0, 1], groupIntoClusters(['x', 'x']))).toThrow(
    expect.objectContaining({ name: 'ValidationError', message: 'bootstrap interval of 1 clusters; pass at least 2' }),
  );
});

test('refuses wrong options and columns', () => {
  expect(() => bootstrapColumn([0, 1], buildSingletonClusters(2), { samples: 0.5 })).toThrow(
    'samples is not a whole number from 1: 0.5; pass one, such as 10000',
  );
  expect(() => bootstrapColumn([0, 1], buildSingletonClusters(2), { level: 95 })).toThrow(
    'level is not between 0 and 1: 95; pass a number such as 0.95',
  );
  expect(() => bootstrapColumn([0, 1, 2], buildSingletonClusters(2))).toThrow(DimensionMismatchError);
});

test.each([1, 7, 8, 17])('sums of %d columns are those of a loop over the groups, to the last digit', (count) => {
  const stream = createRandom(3, 'weighted-sums test');
  const columns = Array.from({ length: count }, () => Float64Array.from({ length: 23 }, () => stream.drawNormal()));
  const sumsWith = createWeightedSums(columns);
  for (let draw = 0; draw < 3; draw++) {
    const weights = Float64Array.from({ length: 23 }, () => stream.integer(4));
    const expected = columns.map((column) => {
      let sum = 0;
      for (let group = 0; group < 23; group++) sum += (weights[group] as number) * (column[group] as number);
      return sum;
    });
    const found: number[] = [];
    sumsWith(weights, (column, sum) => {
      found[column] = sum;
    });
    expect(found).toEqual(expected);
  }
});

test('without columns nothing is called back', () => {
  createWeightedSums([])(new Float64Array(3), () => expect.unreachable());
});
