import { expect, test } from 'vitest';
import { buildSampleRanking } from './ranking.fixture.ts';
import { recall, retrievedRelevant } from './recall.ts';

const ranking = buildSampleRanking([0, 1, null, 2, 0, 3, 1], [1, 0, 2, 0]);

test('recall divides by all relevant documents, retrieved or not', () => {
  expect([1, 2, 3, 5, 7, 11].map((k) => recall.compute(ranking, k))).toEqual([0, 1 / 6, 1 / 6, 2 / 6, 4 / 6, 4 / 6]);
  expect(recall.compute(buildSampleRanking([0, 1, null, 2, 0, 3, 1], [1, 0, 2, 0], 2), 5)).toBe(1 / 3);
  expect(recall.compute(buildSampleRanking([0, null], [0]), 5)).toBe(0);
});

test('counts the relevant documents that were retrieved', () => {
  expect(retrievedRelevant.compute(ranking, Number.POSITIVE_INFINITY)).toBe(4);
});
