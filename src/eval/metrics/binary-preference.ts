import { type MetricFamily, UNJUDGED } from './judged-ranking.ts';

/**
 * bpref uses judged documents only. With R relevant and N judged not relevant, each retrieved relevant document adds
 * 1 - min(n, R) / min(N, R), n being the judged nonrelevant ones above it; the sum is divided by R. Source: buckley2004bpref, as trec_eval computes it.
 */
export const binaryPreference: MetricFamily = {
  name: 'bpref',
  description: 'preference of relevant over judged irrelevant turns',
  cutoff: 'none',
  aggregate: 'mean',
  define: () =>
    'Share of the pairs of a relevant and a judged nonrelevant document that the ranking has in the right order.',
  compute({ grades, relevantGrade, relevant, nonrelevant }) {
    let above = 0;
    let sum = 0;
    for (const grade of grades) {
      if (grade === UNJUDGED) continue;
      if (grade < relevantGrade) above++;
      else sum += above === 0 ? 1 : 1 - Math.min(above, relevant) / Math.min(nonrelevant, relevant);
    }
    return relevant === 0 ? 0 : sum / relevant;
  },
};
