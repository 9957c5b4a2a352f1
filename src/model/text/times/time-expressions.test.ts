import { afterEach, describe, expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { countTimeExpressions, timeRanges } from './time-expressions.ts';

const { TZ } = process.env;
afterEach(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

// Wednesday 14 June 2023.
const REFERENCE = Date.UTC(2023, 5, 14, 23, 30);
const listRangeDays = (text: string) =>
  timeRanges(text, REFERENCE).map(({ from, to }) =>
    [from, to].map((time) => new Date(time).toISOString().slice(0, 10)).join(' '),
  );

test.each<[string, string[]]>([
  ['What did Ann do in May 2023?', ['2023-05-01 2023-06-01']],
  ['On 8 May we met.', ['2023-05-08 2023-05-09']],
  ['See you next week!', ['2023-06-19 2023-06-26']],
  ['She moved here 4 years ago, in 2019.', ['2019-01-01 2020-01-01']],
  ['early June 2022 or last month', ['2022-06-01 2022-07-01', '2023-05-01 2023-06-01']],
  ['the end of last month', ['2023-05-01 2023-06-01']],
  ['Friday last week', ['2023-06-09 2023-06-10']],
  ['I may take 50 of the 2000 people to http://x.org/2002/09/08', []],
  ['', []],
])('%s', (text, expected) => {
  expect(listRangeDays(text)).toEqual(expected);
});

test('ranges are half open, in milliseconds UTC', () => {
  expect(timeRanges('yesterday', REFERENCE)).toEqual([{ from: Date.UTC(2023, 5, 13), to: Date.UTC(2023, 5, 14) }]);
});

test('a time that occurs twice is one range and two expressions', () => {
  const text = 'yesterday, I mean 13 June, not in 2021';
  expect(listRangeDays(text)).toEqual(['2023-06-13 2023-06-14', '2021-01-01 2022-01-01']);
  expect(countTimeExpressions(text, REFERENCE)).toBe(3);
});

test('ranges are in the order of the text, for words of any length', () => {
  expect(listRangeDays('2021, then on Monday, 8 May 2023')).toEqual(['2021-01-01 2022-01-01', '2023-05-08 2023-05-09']);
});

test('the first 2,000 characters are read', () => {
  expect(listRangeDays(`${'x '.repeat(997)}today`)).toHaveLength(1);
  expect(listRangeDays(`${'x '.repeat(1000)}today`)).toEqual([]);
});

describe('a text says the same wherever the machine stands', () => {
  const text =
    'today; tomorrow; last night; this week; this month; on Friday; two weeks before 19 May 2023; the day before 9 June 2023; 12 March';
  const expected = [
    '2023-06-14 2023-06-15',
    '2023-06-15 2023-06-16',
    '2023-06-13 2023-06-14',
    '2023-06-12 2023-06-19',
    '2023-06-01 2023-07-01',
    '2023-06-16 2023-06-17',
    '2023-05-01 2023-05-08',
    '2023-06-08 2023-06-09',
    '2023-03-12 2023-03-13',
  ];

  test.each([
    ['UTC', 0],
    ['Asia/Tokyo', 9],
    ['Pacific/Kiritimati', 14],
    ['America/Los_Angeles', -7],
    ['Pacific/Pago_Pago', -11],
  ])('%s', (zone, hoursAhead) => {
    process.env.TZ = zone;
    expect(new Date(REFERENCE).getTimezoneOffset()).toBe(-60 * hoursAhead || 0);
    expect(listRangeDays(text)).toEqual(expected);
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 8.65e15])('%d is no reference', (reference) => {
  const refused = new ValidationError(`reference time is not valid: ${reference}; pass milliseconds since 1970`, {
    reference,
  });
  expect(() => timeRanges('today', reference)).toThrow(refused);
  expect(() => countTimeExpressions('', reference)).toThrow(refused);
});
