import { expect, test } from 'vitest';
import { countGroupMessages, formatLengthRange, groupByLength } from './length-groups.ts';

test('groups double in length, and an empty one is left out', () => {
  const lengths = [5, 1, 1009, 8, 4, 17, 3, 3];
  const groups = groupByLength(lengths.map((length) => new Int32Array(length)));
  expect(groups.map(formatLengthRange)).toEqual(['1', '3–4', '5–8', '17–1,009']);
  expect(groups.map(({ conversations }) => conversations.length)).toEqual([1, 3, 2, 2]);
  expect(groups.map(countGroupMessages)).toEqual([1, 10, 13, 1026]);
  expect(groupByLength([])).toEqual([]);
});
