import { expect, test } from 'vitest';
import { parseMetric } from './metric.ts';
import { translateMetric } from './metric-aliases.ts';

test.each([
  ['R@10', 'recall@10'],
  ['Recall@100', 'recall@100'],
  ['recall_10', 'recall@10'],
  ['AP', 'map'],
  ['AP@100', 'map@100'],
  ['AP(rel=2)@100', 'map@100'],
  ['MAP', 'map'],
  ['map_cut_10', 'map@10'],
  ['RR', 'mrr'],
  ['RR@10', 'mrr@10'],
  ['MRR@10', 'mrr@10'],
  ['recip_rank', 'mrr'],
  ['P@10', 'p@10'],
  ['P_10', 'p@10'],
  ['P.10', 'p@10'],
  ['P', 'p@10'],
  ['precision@5', 'p@5'],
  ['nDCG@10', 'ndcg@10'],
  ['nDCG', 'ndcg'],
  ['ndcg_cut_10', 'ndcg@10'],
  ['ndcg_cut.10', 'ndcg@10'],
  ['nDCG_burges@5', 'ndcg_burges@5'],
  ['Rprec', 'rprec'],
  ['R-Prec', 'rprec'],
  ['r-precision', 'rprec'],
  ['Bpref', 'bpref'],
  ['success_5', 'success@5'],
  ['Success@1', 'success@1'],
  ['hit_rate@5', 'success@5'],
  ['hits@3', 'success@3'],
  ['NumRelRet', 'num_rel_ret'],
])('%s is written %s', (foreign, own) => {
  const message = `unknown metric: ${foreign}; use ${own}`;
  expect(() => parseMetric(foreign)).toThrow(expect.objectContaining({ name: 'ValidationError', message }));
  expect(parseMetric(own).id).toBe(own);
});

test.each(['gm_map', 'infAP', 'judged@10', 'set_recall', '10', '', 'constructor'])('%j is of no metric', (id) => {
  expect(translateMetric(id)).toBeUndefined();
});
