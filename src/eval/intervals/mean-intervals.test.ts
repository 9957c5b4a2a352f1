import { describe, expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import {
  type Clusters,
  chooseIntervalMethod,
  clusteredTInterval,
  computeBootstrapIntervals,
  type Estimate,
  estimateClusteredMean,
  groupIntoClusters,
  meanIntervals,
} from './mean-intervals.ts';

/** @param sizeOf queries of each group by its place. */
function buildSizedClusters(groups: number, sizeOf: (group: number) => number): Clusters {
  return groupIntoClusters(Array.from({ length: groups }, (_, g) => new Array(sizeOf(g)).fill(`g${g}`)).flat());
}

test('the number of clusters chooses the method', () => {
  expect([1, 2, 3, 19, 20, 200].map((clusters) => chooseIntervalMethod(clusters))).toEqual([
    'none',
    'none',
    't',
    't',
    'bca',
    'bca',
  ]);
});

test.each([
  [3, computeTIntervals],
  [19, computeTIntervals],
  [20, computeBootstrapIntervals],
])('%i clusters have the interval of their method', (groups, expected) => {
  const clusters = buildSizedClusters(groups, (g) => 1 + (g % 3));
  const stream = createRandom(11, 'mean-intervals test');
  const columns = Array.from({ length: 2 }, () => Float64Array.from(clusters.of, () => stream.uniform()));
  const options = { samples: 199, level: 0.9, seed: 5 };
  expect(meanIntervals(columns, clusters, options)).toEqual(expected(columns, clusters, options));
});

function computeTIntervals(columns: readonly Float64Array[], clusters: Clusters, { level }: { level: number }) {
  return columns.map((values) => clusteredTInterval(estimateClusteredMean(values, clusters), level));
}

test.each([1, 2])('%i clusters have a mean and no bounds', (groups) => {
  const clusters = buildSizedClusters(groups, () => 2);
  const values = [0.25, 0.5, 0.75, 1].slice(0, 2 * groups);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(meanIntervals([values], clusters, { seed: 1 })).toEqual([{ mean, low: null, high: null }]);
});

test.each([2, 3, 20])('wrong options and values are refused with %i clusters', (groups) => {
  const clusters = buildSizedClusters(groups, () => 1);
  const values = new Array(groups).fill(0.5);
  expect(() => meanIntervals([values], clusters, { seed: 1, level: 95 })).toThrow(
    'level is not between 0 and 1: 95; pass a number such as 0.95',
  );
  expect(() => meanIntervals([values], clusters, { seed: 1, samples: 0 })).toThrow(ValidationError);
  expect(() => meanIntervals([values.with(1, Number.NaN)], clusters, { seed: 1 })).toThrow(NotFiniteError);
});

describe('at nominal .95 the intervals cover the true mean', () => {
  const DRAWS = 1200;
  const shapes = { equal: () => 3, unequal: (group: number) => 1 + 2 * (group % 5) };

  /** Queries of a group share half of their variance; the true mean is 0. */
  function drawMeanColumns(clusters: Clusters, draws: number): Float64Array[] {
    const stream = createRandom(3, `coverage ${clusters.sizes.length} ${clusters.of.length}`);
    return Array.from({ length: draws }, () => {
      const shared = Array.from(clusters.sizes, () => stream.drawNormal());
      return Float64Array.from(clusters.of, (group) => (shared[group] as number) + stream.drawNormal());
    });
  }

  function measureCoverage(intervals: readonly Estimate[]): number {
    return intervals.filter(({ low, high }) => low !== null && low <= 0 && high >= 0).length / intervals.length;
  }

  // The standard error of a share of 1,200 draws is at most .010.
  test.each([
    ['equal', 4, 0.93],
    ['equal', 6, 0.93],
    ['equal', 10, 0.93],
    ['equal', 19, 0.93],
    ['equal', 20, 0.89],
    ['equal', 60, 0.92],
    ['equal', 200, 0.92],
    ['unequal', 4, 0.88],
    ['unequal', 6, 0.88],
    ['unequal', 10, 0.91],
    ['unequal', 19, 0.92],
    ['unequal', 20, 0.89],
    ['unequal', 60, 0.92],
    ['unequal', 200, 0.92],
  ] as const)('of %s clusters, %i of them, in more than %d of the samples', (shape, groups, least) => {
    const clusters = buildSizedClusters(groups, shapes[shape]);
    const draws = groups < 20 ? DRAWS : 600;
    const found = measureCoverage(meanIntervals(drawMeanColumns(clusters, draws), clusters, { samples: 400, seed: 7 }));
    expect(found).toBeGreaterThan(least);
    expect(found).toBeLessThan(0.975);
  });

  test.each([
    [3, 0.86, 0.92],
    [6, 0.86, 0.91],
    [10, 0.87, 0.92],
    [19, 0.88, 0.93],
    [20, 0.84, 0.91],
  ] as const)(
    'less often of clusters of skewed sizes, %i of them: in %d to %d of the samples',
    (groups, least, most) => {
      const stream = createRandom(5, 'skewed sizes');
      const draws = groups < 20 ? DRAWS : 300;
      const intervals = Array.from({ length: draws }, () => {
        const clusters = buildSizedClusters(groups, () => Math.ceil(4 * Math.exp(stream.drawNormal())));
        const shared = Array.from(clusters.sizes, () => stream.drawNormal());
        const values = Float64Array.from(clusters.of, (group) => (shared[group] as number) + stream.drawNormal());
        return meanIntervals([values], clusters, { samples: 400, seed: 7 })[0] as Estimate;
      });
      const found = measureCoverage(intervals);
      expect(found).toBeGreaterThan(least);
      expect(found).toBeLessThan(most);
    },
  );

  test.each([
    ['equal', 4, 0.84],
    ['equal', 10, 0.92],
    ['unequal', 4, 0.82],
    ['unequal', 10, 0.9],
  ] as const)(
    'which the bootstrap alone would not: of %s clusters, %i of them, in less than %d',
    (shape, groups, most) => {
      const clusters = buildSizedClusters(groups, shapes[shape]);
      expect(
        measureCoverage(
          computeBootstrapIntervals(drawMeanColumns(clusters, DRAWS), clusters, { samples: 400, seed: 7 }),
        ),
      ).toBeLessThan(most);
    },
  );
});
