import { countRelevantWithin, type MetricFamily } from './judged-ranking.ts';

/** trec_eval's `success_k`. */
export const success: MetricFamily = {
  name: 'success',
  description: '1 if any of the first k is relevant',
  cutoff: 'required',
  aggregate: 'mean',
  define: (within) => `1 when there is a relevant document${within}, else 0.`,
  compute: (ranking, k) => (countRelevantWithin(ranking, k) > 0 ? 1 : 0),
};
