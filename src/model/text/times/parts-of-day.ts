import { DAY, type TimeRange } from './calendar.ts';

/** Hours from midnight. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

export const NIGHT: Hours = { from: 18, to: 30 };
/** Hours of a day; a night ends on the next morning. */
export const PARTS_OF_DAY: Readonly<Record<string, Hours>> = {
  morning: { from: 6, to: 12 },
  afternoon: { from: 12, to: 18 },
  evening: { from: 18, to: 24 },
  night: NIGHT,
};

export function takeHours({ from }: TimeRange, hours: Hours): TimeRange {
  return { from: from + (hours.from / 24) * DAY, to: from + (hours.to / 24) * DAY };
}
