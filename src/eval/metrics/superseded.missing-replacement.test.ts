import { expect, test } from 'vitest';
import { parseMetric } from './metric.ts';
import { buildSupersededRanking } from './ranking.fixture.ts';
import { missingReplacement } from './superseded.ts';

test('asks whether a superseded document is shown without the one that replaces it', () => {
  const ranking = buildSupersededRanking('.a.Ab', 'B');
  expect([1, 2, 3, 4, 5].map((k) => missingReplacement.compute(ranking, k))).toEqual([0, 1, 1, 0, 1]);
});

test('a cutoff behind the end of the list changes nothing', () => {
  expect(missingReplacement.compute(buildSupersededRanking('aA'), 10)).toBe(0);
  expect(missingReplacement.compute(buildSupersededRanking('a', 'A'), 10)).toBe(1);
});

test('is 0 where nothing superseded is found, though the replacement is not found either', () => {
  expect(missingReplacement.compute(buildSupersededRanking('..', 'aA'), 2)).toBe(0);
  expect(missingReplacement.compute(buildSupersededRanking('', 'aA'), 2)).toBe(0);
});

test('within a budget of tokens, what does not fit is missing', () => {
  const ranking = { ...buildSupersededRanking('aA'), tokens: Float64Array.of(3, 4) };
  const compute = (id: string) => parseMetric(id).compute(ranking);
  expect(['missing-replacement@6t', 'missing-replacement@7t'].map(compute)).toEqual([1, 0]);
});
