import { expect, test } from 'vitest';
import { DEEPEST, depthFault, jsonDepth } from './json-depth.ts';

test.each([
  ['7', 0],
  ['{}', 1],
  ['[1, {"a": [2]}, []]', 3],
  ['{"a": "[[[["}', 1],
  [String.raw`{"a": "\"[[[", "b": [1]}`, 2],
  [String.raw`["\\", [1]]`, 2],
])('%s has depth %i', (text, depth) => {
  expect(jsonDepth(text)).toBe(depth);
});

test('a text that is too deep is named', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(depthFault(nested(DEEPEST))).toBeNull();
  expect(depthFault(nested(5000))).toBe('nested 5000 deep, where at most 256 is read');
});
