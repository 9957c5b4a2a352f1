import type { JudgedRanking, MetricFamily } from './judged-ranking.ts';

type Gain = (grade: number) => number;
const readGrade: Gain = (grade) => grade;
const doubleByGrade: Gain = (grade) => 2 ** grade - 1;

/** DCG_k = sum over ranks r of gain(grade_r) / log2(r + 1). */
function sumDiscountedGain(grades: Float64Array, k: number, gain: Gain): number {
  const depth = Math.min(k, grades.length);
  let sum = 0;
  for (let rank = 1; rank <= depth; rank++) {
    const grade = grades[rank - 1] as number;
    if (grade > 0) sum += gain(grade) / Math.log2(rank + 1);
  }
  return sum;
}

/** Every positive grade is a gain, for any lowest relevant grade. */
function normaliseGain({ grades, idealGrades }: JudgedRanking, k: number, gain: Gain): number {
  return idealGrades.length === 0 ? 0 : sumDiscountedGain(grades, k, gain) / sumDiscountedGain(idealGrades, k, gain);
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
  compute: (ranking, k) => normaliseGain(ranking, k, readGrade),
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
  compute: (ranking, k) => normaliseGain(ranking, k, doubleByGrade),
};
