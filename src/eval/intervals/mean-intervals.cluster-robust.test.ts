import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import {
  buildSingletonClusters,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
  groupIntoClusters,
  minimumDetectable,
} from './mean-intervals.ts';

const values = [0.12, -0.31, 0.44, 0.27, -0.05, 0.61, 0.33, -0.18, 0.09, 0.52, 0.4];

describe('a clustered mean', () => {
  test('has with groups of one the error and the t test that scipy gives', () => {
    const single = estimateClusteredMean(values, buildSingletonClusters(11));
    // scipy 1.17.1: stats.sem(values), stats.ttest_1samp(values, 0)
    expect(single.error).toBeCloseTo(0.08920123039584282, 12);
    expect(clusteredTTest(single)).toBeCloseTo(0.04556148979350988, 12);
    expect(single.groups).toBe(11);
  });

  test('has with groups of one size the error of the mean of the group means', () => {
    const labels = Array.from({ length: 21 }, (_, i) => `g${i % 7}`);
    const stream = createRandom(5, 'cluster-robust test');
    const drawn = labels.map(() => stream.drawNormal());
    const means = Array.from({ length: 7 }, (_, g) => {
      return ((drawn[g] as number) + (drawn[g + 7] as number) + (drawn[g + 14] as number)) / 3;
    });
    const mean = means.reduce((sum, value) => sum + value, 0) / 7;
    const variance = means.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 6;
    const found = estimateClusteredMean(drawn, groupIntoClusters(labels));
    expect(found.mean).toBeCloseTo(mean, 14);
    expect(found.error).toBeCloseTo(Math.sqrt(variance / 7), 14);
  });

  test('has an error of 0 where nothing varies, and the tests have their limits', () => {
    const clusters = groupIntoClusters(['x', 'x', 'y', 'y', 'y']);
    const constant = estimateClusteredMean([0.1, 0.1, 0.1, 0.1, 0.1], clusters);
    expect(constant.error).toBe(0);
    expect(clusteredTTest(constant)).toBe(0);
    expect(clusteredTTest(estimateClusteredMean([0, 0, 0, 0, 0], clusters))).toBe(1);
    expect(clusteredTInterval(constant, 0.95)).toMatchObject({ low: constant.mean, high: constant.mean });
    expect(minimumDetectable(constant, 0.95)).toBe(0);
  });

  test('needs two groups', () => {
    expect(() => estimateClusteredMean([1, 2], groupIntoClusters(['x', 'x']))).toThrow(ValidationError);
    expect(() => estimateClusteredMean([1, 2], groupIntoClusters(['x', 'x']))).toThrow(
      'standard error of 1 clusters; pass at least 2',
    );
  });
});

test('an interval leaves 0 out exactly where the test says so at its level', () => {
  const mean = estimateClusteredMean(values, buildSingletonClusters(11));
  const p = clusteredTTest(mean);
  expect(clusteredTInterval(mean, 1 - p - 1e-6).low).toBeGreaterThan(0);
  expect(clusteredTInterval(mean, 1 - p + 1e-6).low).toBeLessThan(0);
});

describe('over many drawn samples of unequal, correlated clusters', () => {
  const GROUPS = 41;
  const clusters = groupIntoClusters(
    Array.from({ length: GROUPS }, (_, g) => new Array(1 + (g % 5)).fill(`g${g}`)).flat(),
  );
  const stream = createRandom(7, 'cluster-robust simulation');
  const draw = (shift: number) => {
    const shared = Array.from({ length: GROUPS }, () => stream.drawNormal());
    return Float64Array.from(clusters.of, (group) => shift + (shared[group] as number) + stream.drawNormal());
  };
  const DRAWS = 2000;
  const countRejected = (shift: number) => {
    let count = 0;
    for (let i = 0; i < DRAWS; i++) if (clusteredTTest(estimateClusteredMean(draw(shift), clusters)) < 0.05) count++;
    return count / DRAWS;
  };

  test('the error is the deviation of the means', () => {
    const means: number[] = [];
    let error = 0;
    for (let i = 0; i < DRAWS; i++) {
      const found = estimateClusteredMean(draw(0), clusters);
      means.push(found.mean);
      error += found.error / DRAWS;
    }
    const spread = Math.sqrt(means.reduce((sum, mean) => sum + mean ** 2, 0) / DRAWS);
    expect(error / spread).toBeGreaterThan(0.93);
    expect(error / spread).toBeLessThan(1.05);
  });

  test('the t test rejects a true null hypothesis about as often as it says', () => {
    expect(countRejected(0)).toBeGreaterThan(0.03);
    expect(countRejected(0)).toBeLessThan(0.075);
  });

  test('it finds the minimum detectable difference in 80 % of them, and half of it far more rarely', () => {
    let error = 0;
    for (let i = 0; i < DRAWS; i++) error += estimateClusteredMean(draw(0), clusters).error / DRAWS;
    const least = minimumDetectable({ mean: 0, error, groups: GROUPS }, 0.95);
    expect(countRejected(least)).toBeGreaterThan(0.75);
    expect(countRejected(least)).toBeLessThan(0.84);
    expect(countRejected(least / 2)).toBeLessThan(0.4);
  });
});

describe('with few clusters', () => {
  const clusters = groupIntoClusters(Array.from({ length: 24 }, (_, i) => `g${i % 8}`));
  const stream = createRandom(17, 'cluster-robust few clusters');

  test('the t test finds the minimum detectable difference in 80 % of the samples', () => {
    // The true error of a mean of 8 groups of 3, each with a variance of 1 shared and 1 of its own.
    const least = minimumDetectable({ mean: 0, error: Math.sqrt((1 + 1 / 3) / 8), groups: 8 }, 0.95);
    const DRAWS = 5000;
    let found = 0;
    for (let i = 0; i < DRAWS; i++) {
      const shared = Array.from({ length: 8 }, () => least + stream.drawNormal());
      const drawn = Float64Array.from(clusters.of, (group) => (shared[group] as number) + stream.drawNormal());
      if (clusteredTTest(estimateClusteredMean(drawn, clusters)) < 0.05) found++;
    }
    expect(found / DRAWS).toBeGreaterThan(0.78);
    expect(found / DRAWS).toBeLessThan(0.82);
  });
});
