import { expect, test } from 'vitest';
import { METRICS, parseMean, parseMetric } from './metric.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

test.each(['mrr@10', 'recall@10', 'ndcg@10', 'recall@1', 'success@1', 'map', 'mrr', 'ndcg', 'ndcg_burges@5'])(
  '%s is a metric with a definition',
  (id) => {
    const metric = parseMetric(id);
    expect(metric.id).toBe(id);
    expect(metric.definition).toMatch(/^\S.+\.$/);
    expect(metric.definition.includes('among the first')).toBe(id.includes('@'));
  },
);

test('the cutoff reaches the computation', () => {
  const ranking = buildSampleRanking([0, 0, 1]);
  expect(['mrr', 'mrr@3', 'mrr@2'].map((id) => parseMetric(id).compute(ranking))).toEqual([1 / 3, 1 / 3, 0]);
});

test.each([
  ['recal@5', 'unknown metric: recal@5; use recall@5'],
  ['bprefs', 'unknown metric: bprefs; use bpref'],
  ['recall', 'metric has no cutoff: recall; use one, such as recall@10'],
  ['map@0', 'cutoff of a metric is not a whole number from 1, or tokens such as 500t: map@0; use one, such as map@10'],
  ['map@', 'cutoff of a metric is not a whole number from 1, or tokens such as 500t: map@; use one, such as map@10'],
  [
    'map@1.5',
    'cutoff of a metric is not a whole number from 1, or tokens such as 500t: map@1.5; use one, such as map@10',
  ],
  ['bpref@10', 'metric has no cutoffs: bpref@10; use bpref'],
  ['rbp', 'metric has no persistence, a number above 0 and below 1: rbp; use one, such as rbp(0.8)'],
  ['rbp(1)', 'metric does not take 1: rbp(1); use rbp or rbp(0.8)'],
  ['rbp(0.8,0.9)', 'metric does not take 0.9: rbp(0.8,0.9); use rbp or rbp(0.8)'],
  ['rbq(0.8)@5', 'unknown metric: rbq(0.8)@5; use rbp(0.8)@5'],
  [
    'map@0t',
    'cutoff of a metric is not a whole number from 1, or tokens such as 500t: map@0t; use one, such as map@10',
  ],
  ['p@500t', 'metric has no token budget: p@500t; use ranks, such as p@10'],
])('refuses %s', (id, message) => {
  expect(() => parseMetric(id)).toThrow(expect.objectContaining({ name: 'ValidationError', message: message }));
});

test('a metric may state its lowest relevant grade', () => {
  const ranking = buildSampleRanking([1, 3, null, 2], [2, 0]);
  const compute = (id: string) => parseMetric(id).compute(ranking);
  expect(compute('recall@2')).toBe(2 / 4);
  expect(compute('recall(rel=2)@2')).toBe(1 / 3);
  expect(compute('mrr(rel=2)')).toBe(1 / 2);
  expect(compute('bpref(rel=3)')).toBe(1 - 1 / 1);
  expect(parseMetric('recall(rel=2)@2').relevantGrade).toBe(2);
});

test('a token budget ends with the first document that does not fit', () => {
  const ranking = { ...buildSampleRanking([1, 1, 0, 1]), tokens: Float64Array.of(3, 4, 9, 1) };
  const compute = (id: string) => parseMetric(id).compute(ranking);
  expect(['recall@2t', 'recall@3t', 'recall@15t', 'recall@17t'].map(compute)).toEqual([0, 1 / 3, 2 / 3, 1]);
  expect(['all@16t', 'all@17t', 'all@3', 'all@4'].map(compute)).toEqual([0, 1, 0, 1]);
  expect(compute('success@2t')).toBe(0);
  expect(parseMetric('recall@500t')).toMatchObject({ cutoff: null, tokenBudget: 500 });
  expect(parseMetric('recall@500t').definition).toContain('within the first 500 tokens');
  expect(() => parseMetric('recall@500t').compute(buildSampleRanking([1]))).toThrow(
    'metric needs the tokens of each document: recall@500t; pass tokens to the evaluation',
  );
});

test('nDCG within a token budget divides by the gain of the best ranking, which no budget cuts', () => {
  const ranking = { ...buildSampleRanking([1, 2], [3]), tokens: Float64Array.of(4, 5) };
  const best = 3 + 2 / Math.log2(3) + 1 / 2;
  const compute = (id: string) => parseMetric(id).compute(ranking);
  expect(compute('ndcg@3t')).toBe(0);
  expect(compute('ndcg_burges@3t')).toBe(0);
  expect(compute('ndcg@4t')).toBeCloseTo(1 / best, 12);
  expect(compute('ndcg@9t')).toBeCloseTo((1 + 2 / Math.log2(3)) / best, 12);
});

test('an unknown name far from all others is answered with all of them', () => {
  expect(() => parseMetric('throughput@10')).toThrow(
    `unknown metric: throughput@10; use one of ${METRICS.names.join(', ')}`,
  );
});

test('a sum is no mean', () => {
  expect(parseMean('mrr@10').id).toBe('mrr@10');
  expect(() => parseMean('num_rel_ret')).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'metric is a sum over the queries, not a mean: num_rel_ret; use recall@k',
    }),
  );
  expect(() => parseMean('maps')).toThrow('unknown metric: maps; use map');
});
