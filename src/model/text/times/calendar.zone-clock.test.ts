import { expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { ZoneClock } from './calendar.ts';

const HOUR = 3_600_000;

test.each([
  ['Europe/Berlin', '2024-02-15T09:00:00.123Z', '2024-02-15T10:00:00.123Z'],
  ['Asia/Kolkata', '2025-01-06T03:30:00Z', '2025-01-06T09:00:00Z'],
  ['America/New_York', '2023-11-05T05:30:00Z', '2023-11-05T01:30:00Z'],
  ['UTC', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
])('%s: %s is %s on the wall, and back', (zone, instant, wall) => {
  const clock = ZoneClock.of(zone);
  expect(clock.readWall(Date.parse(instant))).toBe(Date.parse(wall));
  expect(clock.findInstant(Date.parse(wall))).toBe(Date.parse(instant));
});

test('a day of the change to summer time has 23 hours, one of the change back 25', () => {
  const clock = ZoneClock.of('Europe/Berlin');
  const measureDay = (day: string) =>
    (clock.findInstant(Date.parse(day) + 24 * HOUR) - clock.findInstant(Date.parse(day))) / HOUR;
  expect(['2024-03-30', '2024-03-31', '2024-10-27'].map(measureDay)).toEqual([24, 23, 25]);
});

test('of a time that the clock shows twice the first; one that it skips as if it went on', () => {
  const clock = ZoneClock.of('America/New_York');
  expect(clock.findInstant(Date.UTC(2023, 10, 5, 1, 30))).toBe(Date.UTC(2023, 10, 5, 5, 30));
  expect(clock.findInstant(Date.UTC(2023, 2, 12, 2, 30))).toBe(Date.UTC(2023, 2, 12, 7, 30));
  // The clocks of Brazil went from 24:00 to 1:00: the day begins with the change.
  expect(ZoneClock.of('America/Sao_Paulo').findInstant(Date.UTC(2018, 10, 4))).toBe(Date.UTC(2018, 10, 4, 3));
});

test('an unknown zone is refused by name', () => {
  expect(() => ZoneClock.of('Mars/Olympus')).toThrow(ValidationError);
  expect(() => ZoneClock.of('Mars/Olympus')).toThrow(
    'unknown time zone: "Mars/Olympus"; pass an IANA name such as Europe/Berlin, or UTC',
  );
});
