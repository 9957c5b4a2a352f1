import { expect, test } from 'vitest';
import { rankBiasedPrecision } from './rank-biased-precision.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

test('a relevant document at rank r adds (1 - p) p^(r - 1); unjudged ones add nothing', () => {
  const ranking = buildSampleRanking([1, null, 2, 0, 1], [1]);
  const compute = (k: number) => rankBiasedPrecision.compute(ranking, k, 0.5);
  expect(compute(Number.POSITIVE_INFINITY)).toBe(0.5 * (1 + 0.25 + 0.0625));
  expect(compute(3)).toBe(0.5 * (1 + 0.25));
  expect(rankBiasedPrecision.compute(buildSampleRanking([]), 3, 0.5)).toBe(0);
});
