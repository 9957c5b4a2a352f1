import { expect, test } from 'vitest';
import { buildMonthRange, computePeriod, type TimeUnit } from './calendar.ts';

const formatIsoTime = (time: number) => new Date(time).toISOString();

// Wednesday 31 January 2024, a leap year.
const TIME = Date.UTC(2024, 0, 31, 23, 59, 59, 999);

test.each<[TimeUnit, number, string, string]>([
  ['day', 0, '2024-01-31', '2024-02-01'],
  ['day', -31, '2023-12-31', '2024-01-01'],
  ['week', 0, '2024-01-29', '2024-02-05'],
  ['week', -5, '2023-12-25', '2024-01-01'],
  ['weekend', 0, '2024-02-03', '2024-02-05'],
  ['weekend', -1, '2024-01-27', '2024-01-29'],
  ['month', 0, '2024-01-01', '2024-02-01'],
  ['month', 1, '2024-02-01', '2024-03-01'],
  ['month', -2, '2023-11-01', '2023-12-01'],
  ['year', 0, '2024-01-01', '2025-01-01'],
  ['year', -3, '2021-01-01', '2022-01-01'],
])('the %s %i from the last of January', (unit, offset, from, to) => {
  const range = computePeriod(unit, TIME, offset);
  expect([formatIsoTime(range.from), formatIsoTime(range.to)]).toEqual([
    `${from}T00:00:00.000Z`,
    `${to}T00:00:00.000Z`,
  ]);
});

test('a week begins on Monday and ends with its Sunday', () => {
  const monday = Date.UTC(2023, 4, 8);
  const sunday = Date.UTC(2023, 4, 14, 23);
  expect(computePeriod('week', monday, 0)).toEqual({ from: monday, to: Date.UTC(2023, 4, 15) });
  expect(computePeriod('week', sunday, 0)).toEqual({ from: monday, to: Date.UTC(2023, 4, 15) });
});

test('months run on beyond the end of a year', () => {
  expect(buildMonthRange(2022, 11, 3)).toEqual({ from: Date.UTC(2022, 11, 1), to: Date.UTC(2023, 2, 1) });
});
