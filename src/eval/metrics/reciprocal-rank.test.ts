import { expect, test } from 'vitest';
import { buildSampleRanking } from './ranking.fixture.ts';
import { reciprocalRank } from './reciprocal-rank.ts';

test('takes the first relevant document, if it is within the cutoff', () => {
  const ranking = buildSampleRanking([0, null, 1, 0, 2, 1]);
  expect(reciprocalRank.compute(ranking, Number.POSITIVE_INFINITY)).toBe(1 / 3);
  expect(reciprocalRank.compute(ranking, 3)).toBe(1 / 3);
  expect(reciprocalRank.compute(ranking, 2)).toBe(0);
});

test('heeds the least relevant grade and gives 0 where nothing is relevant', () => {
  expect(reciprocalRank.compute(buildSampleRanking([0, null, 1, 0, 2, 1], [], 2), 10)).toBe(1 / 5);
  expect(reciprocalRank.compute(buildSampleRanking([0, null], [3]), 10)).toBe(0);
  expect(reciprocalRank.compute(buildSampleRanking([]), 10)).toBe(0);
});
