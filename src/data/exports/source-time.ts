/** The largest time of a JavaScript date, in milliseconds. */
const LAST_MILLISECOND = 8.64e15;

/** Milliseconds of a time in seconds since 1970, as a number or a text of one; null if it is none. */
export function parseSeconds(seconds: unknown): number | null {
  if (typeof seconds !== 'number' && (typeof seconds !== 'string' || seconds.trim() === '')) return null;
  const time = Math.round(Number(seconds) * 1000);
  return Math.abs(time) <= LAST_MILLISECOND ? time : null; // false for NaN too
}

/** Milliseconds of a date in ISO 8601; null if it is none. A date without a zone is read as UTC. */
export function parseIsoDate(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(text)) return null;
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : time;
}
