import { countRelevantWithin, listReplacementsWithin, type MetricFamily } from './judged-ranking.ts';

/** A query without superseded documents has the value of `success`. */
export const correctFirst: MetricFamily = {
  name: 'correct-first',
  description: '1 if a relevant turn is found and every superseded one is below the turn that replaces it',
  cutoff: 'optional',
  readsSuperseded: true,
  aggregate: 'mean',
  define: (within) =>
    `1 when there is a relevant document${within} and, above each superseded one, the document that replaces it; else 0, also when neither is found.`,
  compute: (ranking, k) => {
    const isBefore = listReplacementsWithin(ranking, k).every(({ place, replacement }) => replacement < place);
    return countRelevantWithin(ranking, k) > 0 && isBefore ? 1 : 0;
  },
};
