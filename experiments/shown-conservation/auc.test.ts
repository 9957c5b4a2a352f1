import { expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { groupIntoClusters } from '../../src/eval/intervals/mean-intervals.ts';
import { estimateArea, listAreaParts } from './auc.ts';

const source = createRandom(7, 'auc.test');
const statistics = { samples: 500, level: 0.95, seed: 3 };

/** Values of which many are equal, and hits that are more frequent where they are high. */
function draw(queries: number, strength: number) {
  const values = Array.from({ length: queries }, () => source.integer(11));
  return { values, hits: values.map((value) => source.uniform() < 0.3 + strength * value) };
}

test('the mean of the parts is the share of pairs in which the hit is higher, equal ones half', () => {
  const { values, hits } = draw(101, 0.04);
  let [sum, pairs] = [0, 0];
  for (const [i, a] of values.entries())
    for (const [j, b] of values.entries()) {
      if (!hits[i] || hits[j]) continue;
      pairs++;
      sum += a > b ? 1 : a === b ? 0.5 : 0;
    }
  const parts = listAreaParts({ values, hits });
  expect(parts.reduce((total, part) => total + part, 0) / 101).toBeCloseTo(sum / pairs, 12);
});

test('a value that separates hits from misses has 1, one that is constant a half without doubt', () => {
  const hits = [true, false, true, false, true, false];
  const clusters = groupIntoClusters(['a', 'b', 'c', 'a', 'b', 'c']);
  expect(estimateArea({ values: [5, 1, 6, 2, 7, 3], hits }, clusters, statistics)).toEqual({
    mean: 1,
    low: 1,
    high: 1,
  });
  expect(estimateArea({ values: hits.map(() => 1), hits }, clusters, statistics)).toEqual({
    ...{ mean: 0.5, low: 0.5, high: 0.5 },
  });
  expect(() => listAreaParts({ values: [1, 2], hits: [true, true] })).toThrow(
    'area under a curve of 2 hits and 0 misses',
  );
});

test('intervals hold the true area about as often as they state, and are wider where conversations differ', () => {
  const clusters = groupIntoClusters(Array.from({ length: 200 }, (_, i) => `c${i % 40}`));
  let covered = 0;
  for (let trial = 0; trial < 200; trial++) {
    const { low, high } = estimateArea(draw(200, 0), clusters, statistics);
    if ((low ?? 1) <= 0.5 && 0.5 <= (high ?? 0)) covered++;
  }
  expect(covered).toBeGreaterThan(178);
  const { values, hits } = draw(200, 0.04);
  const sorted = values.map((value, i) => ({ value, hit: hits[i] as boolean })).sort((a, b) => a.value - b.value);
  const predictions = { values: sorted.map(({ value }) => value), hits: sorted.map(({ hit }) => hit) };
  const alike = groupIntoClusters(Array.from({ length: 200 }, (_, i) => `c${Math.floor(i / 5)}`));
  const measureWidth = (of: typeof alike) => {
    const { low, high } = estimateArea(predictions, of, statistics);
    return (high as number) - (low as number);
  };
  expect(measureWidth(alike)).toBeGreaterThan(measureWidth(clusters));
});
