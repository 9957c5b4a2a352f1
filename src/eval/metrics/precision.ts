import { countRelevantWithin, type MetricFamily } from './judged-ranking.ts';

/** trec_eval's `P_k`: a ranking shorter than k is not forgiven. */
export const precision: MetricFamily = {
  name: 'p',
  description: 'share of the first k that are relevant',
  cutoff: 'required',
  ranksOnly: true,
  aggregate: 'mean',
  define: (within, k) => `Relevant documents${within}, divided by ${k}.`,
  compute: (ranking, k) => countRelevantWithin(ranking, k) / k,
};

/** trec_eval's `Rprec`. */
export const rPrecision: MetricFamily = {
  name: 'rprec',
  description: 'precision at the number of relevant turns',
  cutoff: 'none',
  aggregate: 'mean',
  define: () => 'Precision at R, the number of relevant documents of the query.',
  compute: (ranking) =>
    ranking.relevant === 0 ? 0 : countRelevantWithin(ranking, ranking.relevant) / ranking.relevant,
};
