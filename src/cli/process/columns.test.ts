import { expect, test } from 'vitest';
import { alignColumns } from './columns.ts';

test('columns are as wide as their widest cell, the last is not padded', () => {
  expect(
    alignColumns([
      ['a', 'bb', 'c'],
      ['aaa', 'b', 'cc'],
    ]),
  ).toBe('a    bb  c\naaa  b   cc');
});

test('a row is a line, whatever its cells hold', () => {
  expect(
    alignColumns([
      ['a\nb', 'c'],
      ['d', 'e\n'],
    ]),
  ).toBe('a\\u000ab  c\nd         e\\u000a');
});
