import { expect, test } from 'vitest';
import { id, isId } from './jsonl-rows.ts';

test.each(['a', 'D1:3', '__proto__', 'é', '\u{1f600}'])('%j is an id', (text) => {
  expect(isId(text)).toBe(true);
  expect(id.safeParse(text).success).toBe(true);
});

test.each([
  ['', 'an id without spaces'],
  ['a b', 'an id without spaces'],
  ['a\ud83d', 'an id of well-formed Unicode'],
  ['\ude00a', 'an id of well-formed Unicode'],
  ['a\ufffd', 'an id of well-formed Unicode'],
])('%j is none', (text, message) => {
  expect(isId(text)).toBe(false);
  expect(id.safeParse(text).error?.issues.map((issue) => issue.message)).toEqual([message]);
});
