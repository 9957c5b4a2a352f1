import { expect, test } from 'vitest';
import { binaryPreference } from './binary-preference.ts';
import { buildSampleRanking } from './ranking.fixture.ts';

const computeBpref = (...ranking: Parameters<typeof buildSampleRanking>) =>
  binaryPreference.compute(buildSampleRanking(...ranking), Number.POSITIVE_INFINITY);

test('each relevant document loses by the nonrelevant ones above it', () => {
  // R = 3, N = 2: nonrelevant above the retrieved relevant ones are 0, 1 and 2.
  expect(computeBpref([1, 0, null, 2, 0, 1])).toBeCloseTo((1 + (1 - 1 / 2) + (1 - 2 / 2)) / 3, 15);
  // R = 2, N = 5: only the first R nonrelevant ones count.
  expect(computeBpref([0, 1, 0, 0, 1], [0, 0])).toBeCloseTo((1 - 1 / 2 + (1 - 2 / 2)) / 2, 15);
});

test('unjudged documents change nothing, unretrieved relevant ones count against', () => {
  expect(computeBpref([null, null, 1, 0, null])).toBe(1);
  expect(computeBpref([1], [2, 0])).toBe(1 / 2);
  expect(computeBpref([0, null])).toBe(0);
});
