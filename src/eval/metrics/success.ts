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

/** True if nothing relevant is missing: what a question with several pieces of evidence needs. */
export const allEvidence: MetricFamily = {
  name: 'all',
  description: '1 if every relevant turn is found',
  cutoff: 'required',
  aggregate: 'mean',
  define: (within) => `1 when every relevant document is${within}, else 0.`,
  compute: (ranking, k) => (ranking.relevant > 0 && countRelevantWithin(ranking, k) === ranking.relevant ? 1 : 0),
};
