import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { clusteredTInterval, estimateClusteredMean, groupIntoClusters } from './mean-intervals.ts';
import {
  averageRepetitions,
  computeRepeatedInterval,
  computeSeedDeviation,
  estimateRepeatedMean,
  testRepeatedMean,
} from './repeated-mean.ts';

const clusters = groupIntoClusters(['a', 'a', 'b', 'c', 'c']);
const SEEDS = [
  [1, 0, 1, 0.5, 0],
  [0, 0, 1, 0.25, 0.5],
  [1, 1, 1, 0, 0.75],
];

test('one repetition is the clustered mean', () => {
  const known = estimateClusteredMean(SEEDS[0]!, clusters);
  const got = estimateRepeatedMean(SEEDS.slice(0, 1), clusters);
  expect(got).toEqual({ mean: known.mean, seedDeviation: 0, error: known.error, freedom: 2 });
  expect(computeRepeatedInterval(got, 0.9)).toEqual(clusteredTInterval(known, 0.9));
});

test('both variances are added, with the degrees of freedom between those of the two', () => {
  const means = SEEDS.map((values) => values.reduce((sum, value) => sum + value, 0) / 5);
  const center = (means[0]! + means[1]! + means[2]!) / 3;
  const variance = means.reduce((sum, mean) => sum + (mean - center) ** 2, 0) / 2;
  const average = [2 / 3, 1 / 3, 1, 0.25, 1.25 / 3];
  expect([...averageRepetitions(SEEDS)]).toEqual(average.map((value) => expect.closeTo(value, 12)));
  const fromQueries = estimateClusteredMean(average, clusters).error ** 2;
  const got = estimateRepeatedMean(SEEDS, clusters);
  expect(got.mean).toBeCloseTo(center, 12);
  expect(got.seedDeviation).toBeCloseTo(Math.sqrt(variance), 12);
  expect(computeSeedDeviation(SEEDS)).toBeCloseTo(Math.sqrt(variance), 12);
  expect(got.error ** 2).toBeCloseTo(fromQueries + variance / 3, 12);
  expect(got.freedom).toBeGreaterThan(2);
  expect(got.freedom).toBeLessThan(4);
});

test('equal repetitions of equal values have no error, and the limits of p', () => {
  const zero = estimateRepeatedMean([new Float64Array(5), new Float64Array(5)], clusters);
  expect(zero).toMatchObject({ mean: 0, error: 0, freedom: 2 });
  expect(testRepeatedMean(zero)).toBe(1);
  expect(
    testRepeatedMean(
      estimateRepeatedMean(
        [
          [1, 1, 1, 1, 1],
          [1, 1, 1, 1, 1],
        ],
        clusters,
      ),
    ),
  ).toBe(0);
});

test('repetitions on other queries are refused', () => {
  expect(() => averageRepetitions([[1, 2], [1]])).toThrow(
    'repetitions have different numbers of queries: 2, 1; repeat on the same queries',
  );
  expect(() => averageRepetitions([])).toThrow(/different numbers of queries: ;/);
});

describe('the interval covers the true mean', () => {
  /** How often it does at nominal .95, with 30 conversations of 1 to 7 queries. @param spread of the seeds' own effects */
  function measureCoverage(spread: number, seeds: number): number {
    const random = createRandom(17, `coverage ${spread}`);
    const labels = Array.from({ length: 30 }, (_, g) => Array.from({ length: 1 + (g % 7) }, () => `c${g}`)).flat();
    const groups = groupIntoClusters(labels);
    let covered = 0;
    const RUNS = 2000;
    for (let run = 0; run < RUNS; run++) {
      const own = Array.from({ length: 30 }, () => random.drawNormal());
      const repetitions = Array.from({ length: seeds }, () => {
        const shift = spread * random.drawNormal();
        return labels.map((_, q) => own[groups.of[q]!]! + shift + 0.5 * random.drawNormal());
      });
      const { low, high } = computeRepeatedInterval(estimateRepeatedMean(repetitions, groups), 0.95);
      if (low <= 0 && 0 <= high) covered++;
    }
    return covered / RUNS;
  }

  test.each([0, 0.1, 0.4, 2])('where seeds deviate by %d times as much as conversations', (spread) => {
    const coverage = measureCoverage(spread, 5);
    expect(coverage).toBeGreaterThan(0.935);
    expect(coverage).toBeLessThan(0.98);
  });

  test('unlike an interval of one seed, where seeds matter', () => {
    expect(measureCoverage(0.4, 1)).toBeLessThan(0.75);
  });
});
