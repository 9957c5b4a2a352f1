import { ValidationError } from '../../../core/errors/errors.ts';
import { getOrCompute } from '../../../core/values/once.ts';

// Times are instants in UTC or wall times: see ZoneClock.

/** From the first millisecond up to, but not including, the last. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** A time expression and where it stands in a text: from character `start` up to `end`. */
export interface TimeMention {
  readonly start: number;
  readonly end: number;
  readonly range: TimeRange;
}

export type TimeUnit = 'minute' | 'hour' | 'day' | 'week' | 'weekend' | 'month' | 'quarter' | 'year';
/** After which time a name such as `May` or `Friday` comes again. */
export type Cycle = 'week' | 'year';
/** Which of the times of one name is meant: the latest that has begun, the latest that has ended, the one around now, the next. */
export type Side = 'past' | 'last' | 'this' | 'next';

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
const LENGTHS = { minute: 60_000, hour: HOUR };

/** From a year and a month counted from 0 (which may lie beyond the year) for `months` months. */
export function buildMonthRange(year: number, month: number, months: number): TimeRange {
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + months, 1) };
}

/**
 * The unit of the calendar that lies `offset` units from the one that a time is in. A week begins on Monday; a day is in the weekend that its week ends with.
 */
export function computePeriod(unit: TimeUnit, time: number, offset: number): TimeRange {
  if (unit === 'minute' || unit === 'hour') {
    const from = (Math.floor(time / LENGTHS[unit]) + offset) * LENGTHS[unit];
    return { from, to: from + LENGTHS[unit] };
  }
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (unit === 'year') return buildMonthRange(year + offset, 0, 12);
  if (unit === 'quarter') return buildMonthRange(year, 3 * (Math.floor(month / 3) + offset), 3);
  if (unit === 'month') return buildMonthRange(year, month + offset, 1);
  const midnight = Date.UTC(year, month, date.getUTCDate());
  if (unit === 'day') return { from: midnight + offset * DAY, to: midnight + (offset + 1) * DAY };
  const monday = midnight + (7 * offset - ((date.getUTCDay() + 6) % 7)) * DAY;
  return { from: unit === 'week' ? monday : monday + 5 * DAY, to: monday + 7 * DAY };
}

function moveByMonths(time: number, months: number): number {
  const date = new Date(time);
  const month = buildMonthRange(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
  const lastDay = (month.to - month.from) / DAY;
  return month.from + (Math.min(date.getUTCDate(), lastDay) - 1) * DAY + (((time % DAY) + DAY) % DAY);
}

/** The same time of day `amount` units later; a month that is too short for the day gives its last day. */
export function moveBy(time: number, unit: TimeUnit, amount: number): number {
  if (unit === 'month') return moveByMonths(time, amount);
  if (unit === 'quarter') return moveByMonths(time, 3 * amount);
  if (unit === 'year') return moveByMonths(time, 12 * amount);
  if (unit === 'minute' || unit === 'hour') return time + amount * LENGTHS[unit];
  return time + amount * (unit === 'day' ? DAY : 7 * DAY);
}

export function moveRange({ from, to }: TimeRange, unit: TimeUnit, amount: number): TimeRange {
  return { from: moveBy(from, unit, amount), to: moveBy(to, unit, amount) };
}

/** Of the times with one name, given by that of the current cycle, the one that is meant. */
export function chooseRange(current: TimeRange, cycle: Cycle, side: Side, now: number): TimeRange {
  let range = current;
  if (side === 'this') {
    const before = moveRange(range, cycle, -1);
    return now < before.to ? before : range;
  }
  if (side === 'next') {
    while (range.to <= now) range = moveRange(range, cycle, 1);
    return range;
  }
  const isTooLate = ({ from, to }: TimeRange) => (side === 'last' ? to > now : from > now);
  while (isTooLate(range)) range = moveRange(range, cycle, -1);
  return range;
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ValidationError(
      `unknown time zone: ${JSON.stringify(timeZone)}; pass an IANA name such as Europe/Berlin, or UTC`,
      { timeZone },
      { cause: error },
    );
  }
}

const clocks = new Map<string, ZoneClock>();

/**
 * Converts between instants (milliseconds UTC) and wall times of a time zone. A wall time is a number too: the
 * milliseconds of an instant at which a clock in UTC shows what the clock of the zone shows. So calendar arithmetic on
 * wall times is that of UTC, where every day has 24 hours.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;

  private constructor(timeZone: string) {
    this.#format = createFormat(timeZone);
  }

  /** @throws ValidationError for a time zone that this runtime does not know. */
  static of(timeZone: string): ZoneClock {
    return getOrCompute(clocks, timeZone, () => new ZoneClock(timeZone));
  }

  readWall(instant: number): number {
    const parts = new Map(this.#format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const [year, month, day, hour, minute, second] = (
      ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    ).map((type) => parts.get(type) as number) as [number, number, number, number, number, number];
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000);
  }

  /**
   * The instant at which the clock shows a wall time. Where the clock is set back it shows the time twice: the first
   * instant. Where the clock is set forward it skips the time: the instant that the clock would have shown it at
   * without the change.
   */
  findInstant(wall: number): number {
    const [before, after] = [wall - DAY, wall + DAY].map((near) => wall - (this.readWall(near) - near)) as [
      number,
      number,
    ];
    const shown = [before, after].filter((instant) => this.readWall(instant) === wall);
    return shown.length === 0 ? before : Math.min(...shown);
  }
}
