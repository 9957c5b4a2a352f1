import { expect, test } from 'vitest';
import { parseMetric } from './metric.ts';
import { buildSupersededRanking } from './ranking.fixture.ts';
import { correctFirst } from './superseded.ts';

test.each([
  ['.A.a', '', 1, 'the current statement is above'],
  ['.a.A', '', 0, 'the superseded statement is above'],
  ['A', 'a', 1, 'the superseded statement is not found'],
  ['a', 'A', 0, 'the current statement is not found'],
  ['..', 'aA', 0, 'neither is found'],
  ['', 'aA', 0, 'the list is empty'],
  ['AabB', '', 0, 'one of two superseded statements is above its replacement'],
  ['AaBb', '', 1, 'each of two is below'],
  ['.+.', '', 1, 'nothing is superseded and something relevant is found'],
  ['...', '+', 0, 'nothing is superseded and nothing relevant is found'],
])('%s, without %s, is %s: %s', (documents, unretrieved, value) => {
  expect(correctFirst.compute(buildSupersededRanking(documents, unretrieved), Number.POSITIVE_INFINITY)).toBe(value);
});

test('a cutoff hides what is below', () => {
  const ranking = buildSupersededRanking('A.bB');
  const ids = ['correct-first@1', 'correct-first@2', 'correct-first@3', 'correct-first'];
  expect(ids.map((id) => parseMetric(id).compute(ranking))).toEqual([1, 1, 0, 0]);
});
