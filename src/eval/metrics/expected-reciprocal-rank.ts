import { ValidationError } from '../../core/errors/errors.ts';
import type { MetricFamily } from './judged-ranking.ts';

/**
 * Expected reciprocal rank of the document that satisfies a user, who reads from the top and stops at a document of grade g with probability
 * (2^g - 1) / 2^h, h being the highest grade of the scale. Source: chapelle2009err.
 */
export const expectedReciprocalRank: MetricFamily = {
  name: 'err',
  description: 'expected 1 / rank of the turn that satisfies, by grade; h is the highest grade of the scale',
  cutoff: 'optional',
  graded: true,
  readsScale: true,
  aggregate: 'mean',
  define: (within) =>
    `Expected reciprocal rank${within}: 1 / rank times the chance that a reader stops there; a document of grade g satisfies with chance (2^g - 1) / 2^h, h the highest grade of the scale.`,
  compute({ grades, highestGrade }, k) {
    if (highestGrade === null)
      throw new ValidationError('metric err has no highest grade of the scale; pass highestGrade');
    const depth = Math.min(k, grades.length);
    let reading = 1;
    let sum = 0;
    for (let rank = 1; rank <= depth; rank++) {
      const grade = grades[rank - 1] as number;
      if (grade > highestGrade)
        throw new ValidationError(
          `grade is above the highest grade of the scale, ${highestGrade}: ${grade}; raise highestGrade`,
          { grade, highestGrade },
        );
      const satisfied = grade > 0 ? (2 ** grade - 1) / 2 ** highestGrade : 0;
      sum += (reading * satisfied) / rank;
      reading *= 1 - satisfied;
    }
    return sum;
  },
};
