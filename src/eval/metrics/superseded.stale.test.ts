import { expect, test } from 'vitest';
import { parseMetric } from './metric.ts';
import { buildSampleRanking, buildSupersededRanking } from './ranking.fixture.ts';
import { stale } from './superseded.ts';

test('is the share of the first k that are superseded', () => {
  const ranking = buildSupersededRanking('aA.b+', 'B');
  expect([1, 2, 3, 4, 5].map((k) => stale.compute(ranking, k))).toEqual([1, 1 / 2, 1 / 3, 2 / 4, 2 / 5]);
});

test('divides a list that is shorter than k by its own length, and an empty one is not stale', () => {
  expect(stale.compute(buildSupersededRanking('a.A'), 10)).toBe(1 / 3);
  expect(stale.compute(buildSupersededRanking('', 'aA'), 10)).toBe(0);
});

test('is 0 where nothing is superseded, and an error where that is unknown', () => {
  expect(stale.compute(buildSupersededRanking('+..'), 3)).toBe(0);
  expect(() => parseMetric('stale@3').compute(buildSampleRanking([1, 0]))).toThrow(
    'metric needs the superseded documents of each query: stale@3; pass superseded to the evaluation, or leave the metric out',
  );
});

test('knows a budget of tokens, and that less is better', () => {
  const ranking = { ...buildSupersededRanking('aA.b'), tokens: Float64Array.of(3, 4, 2, 9) };
  const budgets = ['stale@2t', 'stale@3t', 'stale@9t', 'stale@18t'];
  expect(budgets.map((id) => parseMetric(id).compute(ranking))).toEqual([0, 1, 1 / 3, 2 / 4]);
  expect(parseMetric('stale@3')).toMatchObject({ better: 'lower', readsSuperseded: true });
  expect(parseMetric('recall@3')).toMatchObject({ better: 'higher', readsSuperseded: false });
});
