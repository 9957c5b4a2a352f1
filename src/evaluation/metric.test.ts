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
  ['MRR@10', 'unknown metric: MRR@10; use mrr@10'],
  ['recal@5', 'unknown metric: recal@5; use recall@5'],
  ['bprefs', 'unknown metric: bprefs; use bpref'],
  ['recall', 'metric has no cutoff: recall; use one, such as recall@10'],
  ['map@0', 'cutoff of a metric is not a whole number from 1: map@0; use one, such as map@10'],
  ['map@', 'cutoff of a metric is not a whole number from 1: map@; use one, such as map@10'],
  ['map@1.5', 'cutoff of a metric is not a whole number from 1: map@1.5; use one, such as map@10'],
  ['bpref@10', 'metric has no cutoffs: bpref@10; use bpref'],
])('refuses %s', (id, message) => {
  expect(() => parseMetric(id)).toThrow(expect.objectContaining({ name: 'ValidationError', message: message }));
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
