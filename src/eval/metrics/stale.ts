import { listReplacementsWithin, type MetricFamily } from './judged-ranking.ts';

/** Divides by what is shown, not by k: a list that is shorter than k is not fresher for it. An empty list has 0. */
export const stale: MetricFamily = {
  name: 'stale',
  description: 'share of the first k, of all if they are fewer, that are superseded; lower is better',
  cutoff: 'required',
  readsSuperseded: true,
  better: 'lower',
  aggregate: 'mean',
  define: (within) => `Superseded documents${within}, divided by the number of documents there; 0 without any.`,
  compute: (ranking, k) => {
    const shown = Math.min(k, ranking.grades.length);
    return shown === 0 ? 0 : listReplacementsWithin(ranking, k).length / shown;
  },
};
