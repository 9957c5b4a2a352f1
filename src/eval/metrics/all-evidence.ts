import { countRelevantWithin, type MetricFamily } from './judged-ranking.ts';

/** True if nothing relevant is missing: what a question with several pieces of evidence needs. */
export const allEvidence: MetricFamily = {
  name: 'all',
  description: '1 if every relevant turn is found',
  cutoff: 'required',
  aggregate: 'mean',
  define: (within) => `1 when every relevant document is${within}, else 0.`,
  compute: (ranking, k) => (ranking.relevant > 0 && countRelevantWithin(ranking, k) === ranking.relevant ? 1 : 0),
};
