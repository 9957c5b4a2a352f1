import { listReplacementsWithin, type MetricFamily } from './judged-ranking.ts';

/** A reader of the first k documents then has an old statement and nothing that contradicts it. */
export const missingReplacement: MetricFamily = {
  name: 'missing-replacement',
  description: '1 if any of the first k is superseded by a turn that is not among them; lower is better',
  cutoff: 'required',
  readsSuperseded: true,
  better: 'lower',
  aggregate: 'mean',
  define: (within) =>
    `1 when there is a superseded document${within} and the document that replaces it is not there, else 0.`,
  compute: (ranking, k) => {
    const shown = Math.min(k, ranking.grades.length);
    return listReplacementsWithin(ranking, k).some(({ replacement }) => replacement >= shown) ? 1 : 0;
  },
};
