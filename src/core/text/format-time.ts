/** The farthest time from 1970, in milliseconds, that a date can be: 100 million days. */
const FARTHEST_TIME = 8.64e15;

/** Whether a number of milliseconds since 1970 is a time. Nanoseconds of today are not. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= FARTHEST_TIME;
}

/** Milliseconds since 1970 as `2002-08-22 12:36` in UTC. */
export function formatMinute(timestamp: number): string {
  return new Date(timestamp)
    .toISOString()
    .replace(/:\d\d\.\d+Z$/, '')
    .replace('T', ' ');
}
