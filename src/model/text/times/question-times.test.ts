import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { EARLIEST_TIME, findTimeRange, LATEST_TIME } from './question-times.ts';

// Thursday, 15 February 2024, 10:00.
const MOMENT = { timestamp: Date.UTC(2024, 1, 15, 10), timeZone: 'UTC' };

const formatTime = (time: number) => {
  if (time === EARLIEST_TIME) return 'always';
  return time === LATEST_TIME ? 'ever' : new Date(time).toISOString().slice(0, 16).replace('T00:00', '');
};
const read = (question: string, moment = MOMENT) => {
  const range = findTimeRange(question, moment);
  return range && `${formatTime(range.start)} ${formatTime(range.end)}`;
};
const NOW = '2024-02-15T10:00';

describe('the patterns of the seed', () => {
  test.each([
    ['What did Acme order last month?', '2024-01-01 2024-02-01'],
    ['Who called yesterday?', '2024-02-14 2024-02-15'],
    ['Why are sales down this quarter?', '2024-01-01 2024-04-01'],
    ['Tell me about my recent interactions', `2024-02-08T10:00 ${NOW}`],
    ['What happened recently?', `2024-02-08T10:00 ${NOW}`],
    ['How am I doing lately?', `2024-02-08T10:00 ${NOW}`],
    ['What did I say 3 days ago?', '2024-02-12 2024-02-13'],
  ])('%s', (question, expected) => expect(read(question)).toBe(expected));
});

describe('units of the calendar', () => {
  test.each([
    ['last week', '2024-02-05 2024-02-12'],
    ['this week', '2024-02-12 2024-02-19'],
    ['the week before last', '2024-01-29 2024-02-05'],
    ['last week but one', '2024-01-29 2024-02-05'],
    ['two weeks ago', '2024-01-29 2024-02-05'],
    ['last weekend', '2024-02-10 2024-02-12'],
    ['over the weekend', '2024-02-10 2024-02-12'],
    ['the day before yesterday', '2024-02-13 2024-02-14'],
    ['a month ago', '2024-01-01 2024-02-01'],
    ['two years ago', '2022-01-01 2023-01-01'],
    ['last quarter', '2023-10-01 2024-01-01'],
    ['in Q3 2023', '2023-07-01 2023-10-01'],
    ['in q4', '2023-10-01 2024-01-01'],
    ['in the second quarter of last year', '2023-04-01 2023-07-01'],
    ['in H1 2023', '2023-01-01 2023-07-01'],
    ['in the second half of 2023', '2023-07-01 2024-01-01'],
    ['in 2021', '2021-01-01 2022-01-01'],
    ['in the 1990s', '1990-01-01 2000-01-01'],
    ['an hour ago', '2024-02-15T09:00 2024-02-15T10:00'],
  ])('%s', (words, expected) => expect(read(`What happened ${words}?`)).toBe(expected));
});

describe('names without a year are the latest that have begun', () => {
  test.each([
    ['in May', '2023-05-01 2023-06-01'],
    ['in February', '2024-02-01 2024-03-01'],
    ['last February', '2023-02-01 2023-03-01'],
    ['in March last year', '2023-03-01 2023-04-01'],
    ['last spring', '2023-03-01 2023-06-01'],
    ['this winter', '2023-12-01 2024-03-01'],
    ['last winter', '2022-12-01 2023-03-01'],
    ['in the summer of 2022', '2022-06-01 2022-09-01'],
    ['on 5 May', '2023-05-05 2023-05-06'],
    ['on May 5th', '2023-05-05 2023-05-06'],
    ['on May 5, 2021', '2021-05-05 2021-05-06'],
    ['on the 5th', '2024-02-05 2024-02-06'],
    ['on the 31st', '2024-01-31 2024-02-01'],
    ['in the last quarter of 2022', '2022-10-01 2023-01-01'],
    ['in the 2nd quarter', '2023-04-01 2023-07-01'],
    ['on Tuesday', '2024-02-13 2024-02-14'],
    ['on Thursday', '2024-02-08 2024-02-09'],
    ['two Tuesdays ago', '2024-02-06 2024-02-07'],
    ['on Friday last week', '2024-02-09 2024-02-10'],
    ['in early January', '2024-01-01 2024-01-11'],
    ['in mid-2023', '2023-05-01 2023-09-01'],
    ['at the end of last year', '2023-09-01 2024-01-01'],
    ['in the first week of June', '2023-06-01 2023-06-08'],
    ['in the week of 3 January', '2024-01-01 2024-01-08'],
  ])('%s', (words, expected) => expect(read(`What happened ${words}?`)).toBe(expected));

  test('of a question that looks ahead the next', () => {
    expect(read('What will happen in May?')).toBe('2024-05-01 2024-06-01');
    expect(read('What is planned on Friday?')).toBe('2024-02-16 2024-02-17');
    expect(read('What is due by Friday?')).toBe(`${NOW} 2024-02-17`);
    expect(read('What was planned in May?')).toBe('2023-05-01 2023-06-01');
  });
});

describe('late is a part of a time', () => {
  const [lastMonth, itsEnd] = ['2024-01-01 2024-02-01', '2024-01-21 2024-02-01'];
  test.each([
    ['What did Acme order late last month?', itsEnd],
    ['Late last month, who called?', itsEnd],
    ['Who paid, late last month, and how?', itsEnd],
    ['Which invoices were paid in late January?', itsEnd],
    ['Who came to Berlin late last month?', itsEnd],
    ['Who paid since late January?', '2024-01-21 2024-02-15T10:00'],
    ['Which customers paid late in January?', itsEnd],
  ])('%s', (question, expected) => expect(read(question)).toBe(expected));

  test.each([
    'Which customers pay late last month?',
    'Who paid their two invoices late last month?',
    'Which parcels arrived late last month?',
    'Which orders were late last month?',
    'Who replied too late last month?',
    'What had come late last month?',
  ])('but not of what is done too late: %s', (question) => expect(read(question)).toBe(lastMonth));
});

describe('parts of a day', () => {
  test.each([
    ['yesterday evening', '2024-02-14T18:00 2024-02-15'],
    ['last night', '2024-02-14T18:00 2024-02-15T06:00'],
    ['this morning', '2024-02-15T06:00 2024-02-15T12:00'],
    ['on Saturday afternoon', '2024-02-10T12:00 2024-02-10T18:00'],
    ['on the evening of 5 May', '2023-05-05T18:00 2023-05-06'],
    ['yesterday at 3 pm', '2024-02-14T15:00 2024-02-14T16:00'],
    ['at 15:30 yesterday', '2024-02-14T15:30 2024-02-14T15:31'],
    ['between 9 and 11 am on Monday', '2024-02-12T09:00 2024-02-12T11:00'],
    ['yesterday from 10:30 am to 1 pm', '2024-02-14T10:30 2024-02-14T13:00'],
    ['at 12 am on 5 May', '2023-05-05 2023-05-05T01:00'],
    ['at 12 pm on 5 May', '2023-05-05T12:00 2023-05-05T13:00'],
  ])('%s', (words, expected) => expect(read(`What happened ${words}?`)).toBe(expected));
});

describe('two times, and one side that is open', () => {
  test.each([
    ['between March and May 2023', '2023-03-01 2023-06-01'],
    ['between March 2022 and May 2023', '2022-03-01 2023-06-01'],
    ['from October to January', '2023-10-01 2024-02-01'],
    ['from Monday to Wednesday', '2024-02-12 2024-02-15'],
    ['from Thursday to Monday', '2024-02-08 2024-02-13'],
    ['from 5 to 9 May', '2023-05-05 2023-05-10'],
    ['between May 30 and June 2', '2023-05-30 2023-06-03'],
    ['in 2019-2021', '2019-01-01 2022-01-01'],
    ['in the last 3 days', `2024-02-12T10:00 ${NOW}`],
    ['over the past month', `2024-01-15T10:00 ${NOW}`],
    ['in the last 48 hours', `2024-02-13T10:00 ${NOW}`],
    ['since March', `2023-03-01 ${NOW}`],
    ['since last Tuesday', `2024-02-13 ${NOW}`],
    ['from March on', `2023-03-01 ${NOW}`],
    ['so far this year', `2024-01-01 ${NOW}`],
    ['year to date', `2024-01-01 ${NOW}`],
    ['before 2022', 'always 2022-01-01'],
    ['until May', 'always 2023-06-01'],
    ['as of May', 'always 2023-06-01'],
    ['last week before 23 January', '2024-01-15 2024-01-22'],
    ['after May', `2023-06-01 ${NOW}`],
    ['after tomorrow', '2024-02-17 ever'],
    ['two weeks before 19 May 2023', '2023-05-01 2023-05-08'],
    ['on Monday, I mean in January,', '2024-01-01 2024-02-13'],
    ['in May 2023, on 5 May,', '2023-05-05 2023-05-06'],
    ['on 2023-05-08', '2023-05-08 2023-05-09'],
    ['on 9/5/2023', '2023-09-05 2023-09-06'],
  ])('%s', (words, expected) => expect(read(`What happened ${words}?`)).toBe(expected));
});

test.each([
  'What may I do?',
  'Does May like tea?',
  'Who will march on?',
  'Can a pipe spring a leak?',
  'Where is the Sunday roast?',
  'What happens every Friday?',
  'What is my most recent order?',
  'How recently did she call?',
  'Who lives on the 5th floor?',
  'Which invoice has the number 20418?',
  'Is it open at 9 am?',
  'What did she say the other day?',
  'Qu’est-ce qui s’est passé hier ?',
  '昨日は何がありましたか',
  'Что случилось вчера?',
  '???',
])('no time: %s', (question) => expect(read(question)).toBeNull());

test('days are those of the time zone, of 23, 24 or 25 hours', () => {
  const askAt = (timestamp: number, timeZone: string) =>
    findTimeRange('What did I do yesterday?', { timestamp, timeZone });
  // 20:00 UTC is the next day in Kolkata.
  const evening = Date.UTC(2024, 1, 15, 20);
  expect(askAt(evening, 'Asia/Kolkata')).toEqual({
    start: Date.UTC(2024, 1, 14, 18, 30),
    end: Date.UTC(2024, 1, 15, 18, 30),
  });
  const hours = (timestamp: number) => {
    const { start, end } = askAt(timestamp, 'Europe/Berlin') ?? { start: 0, end: 0 };
    return (end - start) / 3_600_000;
  };
  expect([Date.UTC(2024, 3, 1, 12), Date.UTC(2024, 9, 28, 12), evening].map(hours)).toEqual([23, 25, 24]);
});

test('a range that ends now ends at the timestamp, also in the hour that the clock shows twice', () => {
  const moment = { timestamp: Date.UTC(2023, 10, 5, 6, 30, 0, 7), timeZone: 'America/New_York' };
  expect(findTimeRange('What happened since Friday?', moment)).toEqual({
    start: Date.UTC(2023, 10, 3, 4),
    end: moment.timestamp,
  });
});

test('of 100,000 characters the first and the last 2,000 are read', () => {
  const long = 'two weeks before between 5 and from may to 12 '.repeat(2200);
  expect(read(`${'a '.repeat(50_000)} What happened yesterday?`)).toBe('2024-02-14 2024-02-15');
  expect(read(`What happened yesterday? ${'ab '.repeat(40_000)}`)).toBe('2024-02-14 2024-02-15');
  expect(long.length).toBeGreaterThan(100_000);
  for (const text of [long, '9'.repeat(100_000), `${' '.repeat(99_999)}a`, 'the '.repeat(25_000)]) read(text);
});

test('what cannot be read is refused', () => {
  expect(() => read('  ')).toThrow(ValidationError);
  expect(() => read('  ')).toThrow('question is empty: "  "; pass the text of a question');
  expect(() => read('Why?', { ...MOMENT, timestamp: Number.NaN })).toThrow(
    'timestamp is not valid: NaN; pass milliseconds since 1970',
  );
  expect(() => read('Why?', { ...MOMENT, timeZone: 'Mars/Olympus' })).toThrow('unknown time zone: "Mars/Olympus"');
});
