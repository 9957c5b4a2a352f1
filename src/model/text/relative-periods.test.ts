import { expect, test } from 'vitest';
import { findRelativePeriods } from './relative-periods.ts';

// Wednesday 14 June 2023.
const REFERENCE = Date.UTC(2023, 5, 14, 15, 30);
const formatDays = ({ from, to }: { from: number; to: number }) =>
  [from, to].map((time) => new Date(time).toISOString().slice(0, 10)).join(' ');

test.each([
  ['last week', '2023-06-05 2023-06-12'],
  ['This  Week', '2023-06-12 2023-06-19'],
  ['next week', '2023-06-19 2023-06-26'],
  ['last weekend', '2023-06-10 2023-06-12'],
  ['previous month', '2023-05-01 2023-06-01'],
  ['next year', '2024-01-01 2025-01-01'],
  ['an hour or two weeks ago', '2023-05-29 2023-06-05'],
  ['a few days ago', '2023-06-11 2023-06-12'],
  ['a couple of months ago', '2023-04-01 2023-05-01'],
  ['a  couple\nof days ago', '2023-06-12 2023-06-13'],
  ['10 years ago', '2013-01-01 2014-01-01'],
  ['a year from now', '2024-01-01 2025-01-01'],
  ['in 3 days', '2023-06-17 2023-06-18'],
  ['the past 3 days', '2023-06-11 2023-06-15'],
  ['the last few years', '2020-01-01 2024-01-01'],
  ['next two months', '2023-06-01 2023-09-01'],
])('%s', (text, expected) => {
  const [mention, ...rest] = findRelativePeriods(text, REFERENCE);
  expect(rest).toEqual([]);
  expect(mention && formatDays(mention.range)).toBe(expected);
  expect(mention?.end).toBe(text.length);
});

test.each([
  'twice in a week',
  'for three weeks',
  'two weeks later',
  'two weeks before the party',
  'the last week of May',
  'last 3 weekends',
  '1.5 years ago',
  'thirty-two years ago',
  'half a year ago',
  '1000 days ago',
  'the weekly news',
  'at last, week 7',
])('%s tells no distance from the reference', (text) => {
  expect(findRelativePeriods(text, REFERENCE)).toEqual([]);
});

test('a month from the last of a longer one is the month before it', () => {
  const [mention] = findRelativePeriods('one month ago', Date.UTC(2023, 6, 31));
  expect(mention && formatDays(mention.range)).toBe('2023-06-01 2023-07-01');
});
