import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ndcg, ndcgBurges } from './ndcg.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

const ALL = Number.POSITIVE_INFINITY;
const ranking = buildSampleRanking([0, 3, null, 1], [2]);

test('the gain is the grade', () => {
  const ideal = 3 / Math.log2(2) + 2 / Math.log2(3) + 1 / Math.log2(4);
  expect(ndcg.compute(ranking, ALL)).toBeCloseTo((3 / Math.log2(3) + 1 / Math.log2(5)) / ideal, 15);
  expect(ndcg.compute(ranking, 2)).toBeCloseTo(3 / Math.log2(3) / (3 / Math.log2(2) + 2 / Math.log2(3)), 15);
});

test('the gain of the second variant is 2^grade - 1', () => {
  const ideal = 7 / Math.log2(2) + 3 / Math.log2(3) + 1 / Math.log2(4);
  expect(ndcgBurges.compute(ranking, ALL)).toBeCloseTo((7 / Math.log2(3) + 1 / Math.log2(5)) / ideal, 15);
});

test('every grade is a gain, whatever counts as relevant', () => {
  expect(ndcg.compute(buildSampleRanking([1, 0], [], 3), ALL)).toBe(1);
  expect(ndcg.compute(buildSampleRanking([0, null], [0]), ALL)).toBe(0);
});

test('lies in 0 to 1 and is 1 for a ranking by grade', () => {
  const grades = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 23 });
  fc.assert(
    fc.property(grades, fc.integer({ min: 1, max: 11 }), (shuffled, k) => {
      for (const metric of [ndcg, ndcgBurges]) {
        const value = metric.compute(buildSampleRanking(shuffled), k);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-12);
        const best = buildSampleRanking(shuffled.toSorted((a, b) => b - a));
        expect(metric.compute(best, k)).toBe(Math.max(...shuffled) > 0 ? 1 : 0);
      }
    }),
  );
});
