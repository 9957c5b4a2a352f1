import type { MetricFamily } from './judged-ranking.ts';

/** Average precision; its mean over the queries is MAP. trec_eval's `map` and `map_cut_k`. */
export const averagePrecision: MetricFamily = {
  name: 'map',
  description: 'precision at each relevant turn, averaged over all relevant ones',
  cutoff: 'optional',
  aggregate: 'mean',
  define: (within) =>
    `Precision at the rank of each relevant document${within}, summed and divided by all relevant documents.`,
  compute({ grades, relevantGrade, relevant }, k) {
    const depth = Math.min(k, grades.length);
    let found = 0;
    let sum = 0;
    for (let rank = 1; rank <= depth; rank++) {
      if ((grades[rank - 1] as number) < relevantGrade) continue;
      found++;
      sum += found / rank;
    }
    return relevant === 0 ? 0 : sum / relevant;
  },
};
