import type { MetricFamily } from './judged-ranking.ts';

/** Rank-biased precision of a user who goes on to the next rank with probability p: (1 - p) sum of p^(rank - 1), no residual. Source: moffat2008rbp. */
export const rankBiasedPrecision: MetricFamily = {
  name: 'rbp',
  description: '(1 − p) × the sum of p^(rank − 1) over the relevant turns',
  cutoff: 'optional',
  parameter: {
    name: 'persistence',
    range: 'a number above 0 and below 1',
    example: 0.8,
    accepts: (value) => value > 0 && value < 1,
  },
  aggregate: 'mean',
  define: (within, _, persistence) =>
    `Rank-biased precision: ${persistence}^(rank - 1) of each relevant document${within}, summed and multiplied by 1 - ${persistence}; unjudged documents count as not relevant.`,
  compute({ grades, relevantGrade }, k, persistence = Number.NaN) {
    const depth = Math.min(k, grades.length);
    let sum = 0;
    for (let rank = 0; rank < depth; rank++) if ((grades[rank] as number) >= relevantGrade) sum += persistence ** rank;
    return (1 - persistence) * sum;
  },
};
