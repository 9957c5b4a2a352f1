import { describe, expect, test } from 'vitest';
import { readTurnTimes } from './time-expressions.ts';

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
  const [mention, ...rest] = readTurnTimes(text, { now: REFERENCE, future: false });
  expect(rest).toEqual([]);
  expect(mention && formatDays(mention.range)).toBe(expected);
  expect(mention?.end).toBe(text.length);
});

test.each([
  'twice in a week',
  'for three weeks',
  'two weeks later',
  'two weeks before the party',
  'the last week of it',
  'last 3 weekends',
  '1.5 years ago',
  'thirty-two years ago',
  'half a year ago',
  '1000 days ago',
  'the weekly news',
  'at last, week 7',
])('%s tells no distance from the reference', (text) => {
  expect(readTurnTimes(text, { now: REFERENCE, future: false })).toEqual([]);
});

test('a month from the last of a longer one is the month before it', () => {
  const [mention] = readTurnTimes('one month ago', { now: Date.UTC(2023, 6, 31), future: false });
  expect(mention && formatDays(mention.range)).toBe('2023-06-01 2023-07-01');
});

const formatMonths = ({ from, to }: { from: number; to: number }) =>
  [from, to].map((time) => new Date(time).toISOString().slice(0, 7)).join(' ');
const read = (text: string, reference = REFERENCE) =>
  readTurnTimes(text, { now: reference, future: false }).map(
    ({ start, end, range }) => `${text.slice(start, end)}: ${formatMonths(range)}`,
  );

describe('months without a day and a year', () => {
  test.each([
    ['she left in May.', ['in May: 2023-05 2023-06']],
    ['in may', ['in may: 2023-05 2023-06']],
    ['in May 2', ['May 2: 2023-05 2023-05']],
    ['since Sept', ['since Sept: 2023-09 2023-10']],
    ['mid-March', ['mid-March: 2023-03 2023-04']],
    ['during december', ['during december: 2022-12 2023-01']],
    ['last June', ['last June: 2022-06 2022-07']],
    ['last May', ['last May: 2023-05 2023-06']],
    ['next May', ['next May: 2024-05 2024-06']],
    ['next July', ['next July: 2023-07 2023-08']],
    ['this December', ['this December: 2023-12 2024-01']],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test.each(['this may help', 'of march and drill', 'I may', 'June said so', "in May's book", 'in margins'])(
    '%s is none',
    (text) => expect(read(text)).toEqual([]),
  );

  test('the nearest one may be in the next year', () => {
    expect(read('in January', Date.UTC(2022, 11, 3))).toEqual(['in January: 2023-01 2023-02']);
  });
});

describe('years and decades', () => {
  test.each([
    ['in 2019 and (2021)', ['2019: 2019-01 2020-01', '2021: 2021-01 2022-01']],
    ['from 1998-2003', ['1998: 1998-01 1999-01', '2003: 2003-01 2004-01']],
    ["2002's best", ['2002: 2002-01 2003-01']],
    ['the 1990s', ['1990s: 1990-01 2000-01']],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test.each([
    '2000 people',
    'a 2048-bit key',
    '$1999',
    '12,2000',
    '1999.5',
    'x2002',
    '20021',
    '1850',
    '2100',
    'spamd[2052]',
    'port :2000',
    'the 1995s',
    '2002/09',
  ])('%s is none', (text) => expect(read(text)).toEqual([]));
});
