import { expect, test } from 'vitest';
import { buildSampleRanking } from './ranking.fixture.ts';
import { success } from './success.ts';

test('asks whether anything relevant is within the cutoff', () => {
  const ranking = buildSampleRanking([0, null, 2, 1]);
  expect([1, 2, 3, 5].map((k) => success.compute(ranking, k))).toEqual([0, 0, 1, 1]);
  expect(success.compute(buildSampleRanking([0, null, 2, 1], [], 3), 5)).toBe(0);
});
