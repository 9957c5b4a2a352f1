import { expect, test } from 'vitest';
import { expectedReciprocalRank } from './expected-reciprocal-rank.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

test('a reader stops at a document by its grade, on the scale and not on the grades of the query', () => {
  const ranking = buildSampleRanking([1, null, 2], [3]);
  const compute = (highestGrade: number, k = 10) => expectedReciprocalRank.compute({ ...ranking, highestGrade }, k);
  expect(compute(3)).toBeCloseTo(1 / 8 + ((7 / 8) * 3) / 8 / 3, 12);
  expect(compute(4)).toBeCloseTo(1 / 16 + ((15 / 16) * 3) / 16 / 3, 12);
  expect(compute(3, 2)).toBe(1 / 8);
});

test('the scale is required, and no grade is above it', () => {
  const ranking = buildSampleRanking([2]);
  expect(() => expectedReciprocalRank.compute(ranking, 1)).toThrow(
    'metric err has no highest grade of the scale; pass highestGrade',
  );
  expect(() => expectedReciprocalRank.compute({ ...ranking, highestGrade: 1 }, 1)).toThrow(
    'grade is above the highest grade of the scale, 1: 2; raise highestGrade',
  );
});
