import { expect, test } from 'vitest';
import { splitMetricId, splitMetricList } from './metric.ts';

test('a list splits at commas that are not within brackets', () => {
  expect(splitMetricList('mrr@5, RBP(rel=1,p=0.8)@10,nDCG(gains={1:2,2:4})')).toEqual([
    'mrr@5',
    'RBP(rel=1,p=0.8)@10',
    'nDCG(gains={1:2,2:4})',
  ]);
});

test.each([
  ['ndcg', { name: 'ndcg', entries: [], cutoff: null }],
  ['ndcg@', { name: 'ndcg', entries: [], cutoff: '' }],
  ['recall@500t', { name: 'recall', entries: [], cutoff: '500t' }],
  ['rbp(0.8, rel=2)@10', { name: 'rbp', entries: ['0.8', 'rel=2'], cutoff: '10' }],
  ['map@10@20', { name: 'map', entries: [], cutoff: '10@20' }],
  ['map)10(', { name: 'map)10(', entries: [], cutoff: null }],
])('%s has these parts', (id, parts) => {
  expect(splitMetricId(id)).toEqual(parts);
});
