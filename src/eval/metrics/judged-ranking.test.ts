import { expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { countHolesWithin, countRelevantWithin, judgeRanking, UNJUDGED } from './judged-ranking.ts';

const judgements = new Map([
  ['a', 2],
  ['b', 0],
  ['c', 1],
  ['pooled', -2],
  ['lost', 3],
]);

test('sorts by score, then by id descending, and looks the grades up', () => {
  const ranking = ['a', 'b', 'c', 'pooled', 'unknown'].map((id) => ({ id, score: id === 'b' ? 7 : 5 }));
  const judged = judgeRanking('q', ranking, judgements, 2);
  expect([...judged.grades]).toEqual([0, UNJUDGED, UNJUDGED, 1, 2]);
  expect([...judged.idealGrades]).toEqual([3, 2, 1]);
  expect(judged).toMatchObject({ relevantGrade: 2, relevant: 2, nonrelevant: 2 });
  expect([1, 3, 4, 5, 11].map((k) => countRelevantWithin(judged, k))).toEqual([0, 0, 0, 1, 1]);
  expect([1, 2, 3, 11].map((k) => countHolesWithin(judged, k))).toEqual([0, 1, 2, 2]);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses a score of %s and names query and document', (score) => {
  const judgeRefused = () => judgeRanking('q7', [{ id: 'a', score }], judgements, 1);
  expect(judgeRefused).toThrow(NotFiniteError);
  expect(judgeRefused).toThrow(`score is not finite at query q7, document a: ${score}`);
});

test('refuses a grade that is not finite and a repeated document', () => {
  expect(() => judgeRanking('q7', [], new Map([['a', Number.NaN]]), 1)).toThrow(
    'grade is not finite at query q7, document a: NaN',
  );
  const judgeTwice = () =>
    judgeRanking(
      'q7',
      [
        { id: 'a', score: 2 },
        { id: 'a', score: 1 },
      ],
      judgements,
      1,
    );
  expect(judgeTwice).toThrow(ValidationError);
  expect(judgeTwice).toThrow('ranking of query q7 repeats a document: a');
});
