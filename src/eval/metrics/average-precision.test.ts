import { expect, test } from 'vitest';
import { averagePrecision } from './average-precision.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

const ranking = buildSampleRanking([1, 0, 2, null, 1], [1, 0]);

test('averages the precision at each relevant rank over all relevant documents', () => {
  expect(averagePrecision.compute(ranking, Number.POSITIVE_INFINITY)).toBeCloseTo((1 / 1 + 2 / 3 + 3 / 5) / 4, 15);
  expect(averagePrecision.compute(ranking, 3)).toBeCloseTo((1 / 1 + 2 / 3) / 4, 15);
});

test('is 1 for a perfect ranking and 0 where nothing is relevant', () => {
  expect(averagePrecision.compute(buildSampleRanking([1, 3, 2, 0]), Number.POSITIVE_INFINITY)).toBe(1);
  expect(averagePrecision.compute(buildSampleRanking([0, null]), Number.POSITIVE_INFINITY)).toBe(0);
});
