import { countRelevantWithin, type MetricFamily } from './judged-ranking.ts';

/** trec_eval's `recall_k`. */
export const recall: MetricFamily = {
  name: 'recall',
  description: 'share of the relevant turns that are found',
  cutoff: 'required',
  aggregate: 'mean',
  define: (within) => `Relevant documents${within}, divided by all relevant documents.`,
  compute: (ranking, k) => (ranking.relevant === 0 ? 0 : countRelevantWithin(ranking, k) / ranking.relevant),
};

/** trec_eval's `num_rel_ret`. */
export const retrievedRelevant: MetricFamily = {
  name: 'num_rel_ret',
  description:
    'relevant turns that are found, summed over the queries; not allowed in a config, whose figures are means',
  cutoff: 'none',
  aggregate: 'sum',
  define: () => 'Relevant documents that were retrieved, summed over the queries.',
  compute: countRelevantWithin,
};
