import * as chrono from 'chrono-node';
import { ZoneClock } from '../../src/model/text/times/calendar.ts';
import type { QueryTimeRange } from '../../src/model/text/times/question-times.ts';

type Components = ReturnType<typeof chrono.parse>[number]['start'];

/** The units of a date by chrono's names, the finest first, each with its length as changes of year, month, day, hour and minute. */
const UNITS = [
  ['minute', [0, 0, 0, 0, 1]],
  ['hour', [0, 0, 0, 1, 0]],
  ['day', [0, 0, 1, 0, 0]],
  ['weekday', [0, 0, 1, 0, 0]],
  ['month', [0, 1, 0, 0, 0]],
  ['year', [1, 0, 0, 0, 0]],
] as const;
const PARTS = ['year', 'month', 'day', 'hour', 'minute'] as const;

/** The finest unit that chrono is certain of, as a range of wall times; a day if it is certain of nothing. */
function widen(components: Components): { readonly from: number; readonly to: number } {
  const [unit, length] = UNITS.find(([name]) => components.isCertain(name)) ?? UNITS[2];
  const finest = unit === 'weekday' ? 'day' : unit;
  const kept = PARTS.indexOf(finest);
  const at = PARTS.map((part, i) => (i <= kept ? (components.get(part) ?? 0) : i <= 2 ? 1 : 0));
  const build = (change: readonly number[]) => {
    const [year, month, day, hour, minute] = at.map((value, i) => value + (change[i] as number)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return Date.UTC(year, month - 1, day, hour, minute);
  };
  return { from: build([0, 0, 0, 0, 0]), to: build(length) };
}

/** What chrono-node alone gives: its first result, each end as wide as the unit that chrono is certain of. */
export function findChronoRange(text: string, timestamp: number, timeZone: string): QueryTimeRange | null {
  const clock = ZoneClock.of(timeZone);
  const wall = new Date(clock.readWall(timestamp));
  // Chrono computes with the wall clock of this machine.
  const reference = new Date(
    wall.getUTCFullYear(),
    wall.getUTCMonth(),
    wall.getUTCDate(),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
  );
  const [first] = chrono.parse(text, reference);
  if (first === undefined) return null;
  const [start, end] = [widen(first.start), widen(first.end ?? first.start)];
  return { start: clock.findInstant(start.from), end: clock.findInstant(Math.max(start.to, end.to)) };
}
