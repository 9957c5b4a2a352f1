const DAY_MILLISECONDS = 86_400_000;

/** From the first millisecond (UTC) up to, but not including, the last. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** The place of a time expression in a text, from character `start` up to `end`. */
export interface TimeMention {
  readonly start: number;
  readonly end: number;
  readonly range: TimeRange;
}

export type CalendarUnit = 'day' | 'week' | 'weekend' | 'month' | 'year';

/** From a year and a month counted from 0 (which may lie beyond the year) for `months` months. */
export function buildMonthRange(year: number, month: number, months: number): TimeRange {
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + months, 1) };
}

/**
 * The calendar's day, week, weekend, month or year that lies `offset` units from the one that a time is in, in UTC. A week begins on Monday; a day is in the
 * weekend that its week ends with.
 */
export function computePeriod(unit: CalendarUnit, time: number, offset: number): TimeRange {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (unit === 'year') return buildMonthRange(year + offset, 0, 12);
  if (unit === 'month') return buildMonthRange(year, month + offset, 1);
  const midnight = Date.UTC(year, month, date.getUTCDate());
  if (unit === 'day')
    return { from: midnight + offset * DAY_MILLISECONDS, to: midnight + (offset + 1) * DAY_MILLISECONDS };
  const monday = midnight + (7 * offset - ((date.getUTCDay() + 6) % 7)) * DAY_MILLISECONDS;
  return { from: unit === 'week' ? monday : monday + 5 * DAY_MILLISECONDS, to: monday + 7 * DAY_MILLISECONDS };
}
