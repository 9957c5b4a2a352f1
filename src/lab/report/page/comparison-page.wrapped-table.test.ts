import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wrapText } from '../tables/plain-table.ts';
import { alignLines } from '../tables/text-table.ts';
import { formatWrappedTable } from './comparison-page.ts';

test('a text is broken between words, and within a word without room', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapText('one two three', 13)).toEqual(['one two three']);
  expect(wrapText('a lengthy1234567 b', 7)).toEqual(['a', 'lengthy', '1234567', 'b']);
  expect(wrapText('', 5)).toEqual(['']);
});

test('no line is longer than the width, and every word is there in its order', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,17}$/), { minLength: 1, maxLength: 11 });
  fc.assert(
    fc.property(words, fc.integer({ min: 3, max: 23 }), (all, width) => {
      const lines = wrapText(all.join(' '), width);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(all.join(''));
    }),
  );
});

const rows = [
  ['key', 'A', 'B'],
  ['description', 'the first of them, told at length', 'x'],
  ['seed', '7', 'abcdefghijklmnopqrstuvwxyz'],
];

test('the widest columns take several lines, a row below the other', () => {
  expect(formatWrappedTable(rows, 41)).toEqual([
    'key          A              B',
    '─────────────────────────────────────────',
    'description  the first of   x',
    '             them, told at',
    '             length',
    'seed         7              abcdefghijklm',
    '                            nopqrstuvwxyz',
  ]);
});

test('where there is room, and where there is none at all, the table stands as it must', () => {
  expect(formatWrappedTable(rows, 200)).toEqual(alignLines(rows));
  expect(Math.max(...formatWrappedTable(rows, 5).map((line) => line.length))).toBe(8 + 2 + 8 + 2 + 8);
});
