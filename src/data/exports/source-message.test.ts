import { expect, test } from 'vitest';
import { parseIsoDate, parseSeconds } from './source-message.ts';

test.each<[unknown, number | null]>([
  [1_700_000_000.123456, 1_700_000_000_123],
  ['1700000000', 1_700_000_000_000],
  ['1700000000.000200', 1_700_000_000_000],
  [-1, -1000],
  ['', null],
  ['soon', null],
  [null, null],
  [Number.POSITIVE_INFINITY, null],
  [1e300, null],
])('%j in seconds', (seconds, expected) => {
  expect(parseSeconds(seconds)).toBe(expected);
});

test.each<[unknown, number | null]>([
  ['2024-03-01T09:00:00.123456Z', Date.UTC(2024, 2, 1, 9, 0, 0, 123)],
  ['2024-03-01T09:00:00+01:00', Date.UTC(2024, 2, 1, 8)],
  ['2024-03-01T09:00:00', Date.UTC(2024, 2, 1, 9)],
  ['2024-13-01T09:00:00Z', null],
  ['yesterday', null],
  [7, null],
])('%j as a date', (text, expected) => {
  expect(parseIsoDate(text)).toBe(expected);
});
