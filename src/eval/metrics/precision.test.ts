import { expect, test } from 'vitest';
import { precision, rPrecision } from './precision.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

const ranking = buildSampleRanking([2, 0, 1, null, 1], [1, 0]);

test('precision divides by the cutoff, also when the ranking is shorter', () => {
  expect([1, 2, 3, 5, 7].map((k) => precision.compute(ranking, k))).toEqual([1, 1 / 2, 2 / 3, 3 / 5, 3 / 7]);
});

test('R-precision cuts at the number of relevant documents', () => {
  expect(rPrecision.compute(ranking, Number.POSITIVE_INFINITY)).toBe(2 / 4);
  expect(rPrecision.compute(buildSampleRanking([1], [1, 1]), Number.POSITIVE_INFINITY)).toBe(1 / 3);
  expect(rPrecision.compute(buildSampleRanking([0], [0]), Number.POSITIVE_INFINITY)).toBe(0);
});
