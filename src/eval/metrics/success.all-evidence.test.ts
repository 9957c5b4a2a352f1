import { expect, test } from 'vitest';
import { buildSampleRanking } from './ranking.fixture.ts';
import { allEvidence } from './success.ts';

test('every relevant document must be there, also those that the ranking lacks', () => {
  expect(allEvidence.compute(buildSampleRanking([1, 0, 1]), 3)).toBe(1);
  expect(allEvidence.compute(buildSampleRanking([1, 0, 1]), 2)).toBe(0);
  expect(allEvidence.compute(buildSampleRanking([1, 0, 1], [1]), 3)).toBe(0);
  expect(allEvidence.compute(buildSampleRanking([0, 0]), 2)).toBe(0);
});
