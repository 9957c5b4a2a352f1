import type { MetricFamily } from './judged-ranking.ts';

/** DCG_k = sum over ranks r of gain(grade_r) / log2(r + 1). */
function sumDiscountedGain(grades: Float64Array, k: number, gain: (grade: number) => number): number {
  const depth = Math.min(k, grades.length);
  let sum = 0;
  for (let rank = 1; rank <= depth; rank++) {
    const grade = grades[rank - 1] as number;
    if (grade > 0) sum += gain(grade) / Math.log2(rank + 1);
  }
  return sum;
}

/** Every positive grade is a gain, for any lowest relevant grade. */
function createNdcg(gain: (grade: number) => number): MetricFamily['compute'] {
  return ({ grades, idealGrades }, k) =>
    idealGrades.length === 0 ? 0 : sumDiscountedGain(grades, k, gain) / sumDiscountedGain(idealGrades, k, gain);
}

/** The gain is the grade. Source: jarvelin2002ndcg; trec_eval's `ndcg` and `ndcg_cut_k`. */
export const ndcg: MetricFamily = {
  name: 'ndcg',
  description: 'discounted cumulative gain; the gain is the grade',
  cutoff: 'optional',
  graded: true,
  aggregate: 'mean',
  define: (within) =>
    `Discounted gain${within} divided by that of the best possible ranking; the gain is the grade, the discount log2(rank + 1).`,
  compute: createNdcg((grade) => grade),
};

/** The gain is 2^grade - 1. Source: burges2005ranknet. */
export const ndcgBurges: MetricFamily = {
  name: 'ndcg_burges',
  description: 'the same with gain 2^grade − 1',
  cutoff: 'optional',
  graded: true,
  aggregate: 'mean',
  define: (within) =>
    `Discounted gain${within} divided by that of the best possible ranking; the gain is 2^grade - 1, the discount log2(rank + 1).`,
  compute: createNdcg((grade) => 2 ** grade - 1),
};
