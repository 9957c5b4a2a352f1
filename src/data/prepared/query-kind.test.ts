import { expect, test } from 'vitest';
import { classifyQuery } from './query-kind.ts';

test.each([
  ['Does it build?', 'question'],
  ['Does it build? Mine does.', 'question'],
  ['He asked "why?" and left.', 'question'],
  ['Really?!', 'question'],
  ['It builds.', 'statement'],
  ['See http://x.org/?id=7 for that.', 'statement'],
  ['Which one?)\nI took the first.', 'question'],
])('%j is a %s', (text, kind) => {
  expect(classifyQuery(text)).toBe(kind);
});
