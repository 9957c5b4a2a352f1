import { buildMonthRange, type CalendarUnit, computePeriod, type TimeRange } from '../../model/text/time-range.ts';

// Times here are wall times: see ZoneClock.

export type TimeUnit = CalendarUnit | 'minute' | 'hour' | 'quarter';
/** After which time a name such as `May` or `Friday` comes again. */
export type Cycle = 'week' | 'year';
/** Which of the times of one name is meant: the latest that has begun, the latest that has ended, the one around now, the next. */
export type Side = 'past' | 'last' | 'this' | 'next';

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
const LENGTHS = { minute: 60_000, hour: HOUR };

/** The unit that lies `offset` units from the one that a time is in. */
export function computeUnit(unit: TimeUnit, time: number, offset: number): TimeRange {
  if (unit === 'minute' || unit === 'hour') {
    const from = (Math.floor(time / LENGTHS[unit]) + offset) * LENGTHS[unit];
    return { from, to: from + LENGTHS[unit] };
  }
  if (unit !== 'quarter') return computePeriod(unit, time, offset);
  const date = new Date(time);
  return buildMonthRange(date.getUTCFullYear(), 3 * (Math.floor(date.getUTCMonth() / 3) + offset), 3);
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

/** How many units from the current one a word such as `last` means. */
export function readOffset(side: string): number {
  return /^(?:this|current)$/i.test(side) ? 0 : /^(?:next|coming)$/i.test(side) ? 1 : -1;
}
