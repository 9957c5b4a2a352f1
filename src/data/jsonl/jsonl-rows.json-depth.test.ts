import { expect, test } from 'vitest';
import { DEEPEST, describeDepthFault, measureJsonDepth } from './jsonl-rows.ts';

test.each([
  ['7', 0],
  ['{}', 1],
  ['[1, {"a": [2]}, []]', 3],
  ['{"a": "[[[["}', 1],
  [String.raw`{"a": "\"[[[", "b": [1]}`, 2],
  [String.raw`["\\", [1]]`, 2],
])('%s has depth %i', (text, depth) => {
  expect(measureJsonDepth(text)).toBe(depth);
});

test('a text that is too deep is named', () => {
  const nestArrays = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(describeDepthFault(nestArrays(DEEPEST))).toBeNull();
  expect(describeDepthFault(nestArrays(5000))).toBe('nested 5000 deep, where at most 256 is read');
});
