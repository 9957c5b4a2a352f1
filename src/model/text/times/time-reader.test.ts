import { describe, expect, test } from 'vitest';
import { findChronoDates } from './time-reader.ts';

// Wednesday 14 June 2023.
const REFERENCE = Date.UTC(2023, 5, 14, 23, 30);
const read = (text: string) =>
  findChronoDates(text, REFERENCE).map(({ range }) =>
    [range.from, range.to].map((time) => new Date(time).toISOString().slice(0, 10)).join(' '),
  );

test.each([
  ['8 May, 2023', '2023-05-08 2023-05-09'],
  ['on 8 May', '2023-05-08 2023-05-09'],
  ['on 8 may', '2023-05-08 2023-05-09'],
  ['Dec 25th', '2022-12-25 2022-12-26'],
  ['May 2023', '2023-05-01 2023-06-01'],
  ['the end of April', '2023-04-01 2023-05-01'],
  ['October', '2023-10-01 2023-11-01'],
  ['9/5/2023', '2023-09-05 2023-09-06'],
  ['09/2012', '2012-09-01 2012-10-01'],
  ['2023-05-08', '2023-05-08 2023-05-09'],
  ['5-8 May 2023', '2023-05-05 2023-05-09'],
  ['May 2022 to July 2022', '2022-05-01 2022-08-01'],
  ['8 May 2023 at 3pm', '2023-05-08 2023-05-09'],
  ['Sun, 8 Sep 2002 23:50:00 -0700', '2002-09-08 2002-09-09'],
  ['yesterday', '2023-06-13 2023-06-14'],
  ['the day before yesterday', '2023-06-12 2023-06-13'],
  ['tomorrow at 5', '2023-06-15 2023-06-16'],
  ['last night', '2023-06-13 2023-06-14'],
  ['last Friday', '2023-06-09 2023-06-10'],
  ['Friday last week', '2023-06-09 2023-06-10'],
  ['last weekend', '2023-06-10 2023-06-12'],
  ['two weeks before 19 May 2023', '2023-05-01 2023-05-08'],
  ['3 days after 8 May 2023', '2023-05-11 2023-05-12'],
  ['the Monday before July 24, 2023', '2023-07-17 2023-07-18'],
  ['the Monday after July 24, 2023', '2023-07-31 2023-08-01'],
  ['the Saturday after October 27, 2023', '2023-10-28 2023-10-29'],
  ['the weekend before 8 May 2023', '2023-05-06 2023-05-08'],
])('%s', (text, expected) => {
  expect(read(text)).toEqual([expected]);
});

describe('what chrono misreads is left out', () => {
  test.each([
    'I may go',
    'may 2 people come?',
    'march on',
    'June said hi',
    'the sun sat down',
    'Sun Microsystems',
    'at 50, at 5, 50',
    '3pm',
    'this morning',
    'now',
    'in 5 minutes',
    '2 hours ago',
    'for 3 weeks',
    'two weeks before the party',
    'two weeks later',
    '- 2 days',
    'open 24/7, 1/2 price',
    '2.4.18 and 10.2.13',
    'May 50',
    'every Friday',
    'on a weekday',
    'the first weekend of it',
    '31 April 2023',
    'last spring',
  ])('%s', (text) => expect(read(text)).toEqual([]));
});
