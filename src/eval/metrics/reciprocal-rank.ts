import type { MetricFamily } from './judged-ranking.ts';

/** Reciprocal rank of the first relevant document; its mean over the queries is MRR. trec_eval's `recip_rank`. */
export const reciprocalRank: MetricFamily = {
  name: 'mrr',
  description: '1 / rank of the first relevant turn',
  cutoff: 'optional',
  aggregate: 'mean',
  define: (within) => `1 / rank of the first relevant document${within}, 0 when there is none.`,
  compute({ grades, relevantGrade }, k) {
    const rank = grades.findIndex((grade) => grade >= relevantGrade) + 1;
    return rank === 0 || rank > k ? 0 : 1 / rank;
  },
};
