import { expect, test } from 'vitest';
import { fitVocabulary, weighTerms } from './tf-idf.ts';

const TEXTS = [['a', 'b', 'b', 'c'], ['a', 'b'], ['a', 'd'], ['a', 'd', 'e'], ['a']];

test('terms in too few or too many texts are left out', () => {
  const { indexOf } = fitVocabulary(TEXTS, { minDocumentFrequency: 2, maxDocumentShare: 0.9 });
  expect([...indexOf]).toEqual([
    ['b', 0],
    ['d', 1],
  ]);
});

test('the bounds themselves are kept', () => {
  const { indexOf } = fitVocabulary(TEXTS, { minDocumentFrequency: 1, maxDocumentShare: 1 });
  expect([...indexOf.keys()]).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a row is (1 + ln tf)(ln((1 + n) / (1 + df)) + 1), scaled to length 1', () => {
  const vocabulary = fitVocabulary(TEXTS, { minDocumentFrequency: 2, maxDocumentShare: 1 });
  const matrix = weighTerms([['b', 'zebra', 'b', 'a'], ['zebra'], ['d']], vocabulary);
  const a = Math.log(6 / 6) + 1; // in 5 of 5 texts
  const b = (1 + Math.log(2)) * (Math.log(6 / 3) + 1); // twice, and in 2 of 5 texts
  const length = Math.sqrt(a * a + b * b);
  expect([...matrix.offsets]).toEqual([0, 2, 2, 3]);
  expect([...matrix.columnOf].map((column) => [...vocabulary.indexOf.keys()][column])).toEqual(['b', 'a', 'd']);
  expect(matrix.values[0]).toBeCloseTo(b / length, 12);
  expect(matrix.values[1]).toBeCloseTo(a / length, 12);
  expect(matrix.values[2]).toBe(1);
});
