import { countRelevantWithin, listReplacementsWithin, type MetricFamily } from './judged-ranking.ts';

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
