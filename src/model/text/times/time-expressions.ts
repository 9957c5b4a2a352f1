import { ValidationError } from '../../../core/errors/errors.ts';
import { replaceByBlanks } from '../addresses.ts';
import type { TimeMention, TimeRange } from './calendar.ts';
import { readTurnTimes } from './turn-times.ts';

/** Characters that are read: chrono-node needs four seconds for 32,000 that repeat `2 weeks before`, and a thirtieth of a second for these. */
const READ_LENGTH = 2000;

function timeMentions(text: string, reference: number): TimeMention[] {
  if (Number.isNaN(new Date(reference).getTime()))
    throw new ValidationError(`reference time is not valid: ${reference}; pass milliseconds since 1970`, { reference });
  return readTurnTimes(replaceByBlanks(text.slice(0, READ_LENGTH)), { now: reference, future: false });
}

/**
 * The distinct times that occur in the first 2,000 characters of an English text, in the order of the text.
 *
 * A range is as wide as the unit in the text: `in May 2023` is the month, `last week` the week from Monday, `2019` the year, `the past 3 days` the days up
 * to the reference. A day or a month without a year is the one nearest to the reference; `9/5`, times of day and seasons are not dates.
 *
 * @param reference when the text was written, in milliseconds UTC.
 * @returns half open ranges in milliseconds UTC. They do not depend on the machine's time zone.
 * @throws ValidationError for a reference that is no time.
 */
export function timeRanges(text: string, reference: number): TimeRange[] {
  const distinct = new Map(
    timeMentions(text, reference).map(({ range }) => [`${range.from} ${range.to}`, range] as const),
  );
  return [...distinct.values()];
}

/** The number of time expressions in the text, by the rules of {@link timeRanges}; the same time twice counts as two. */
export function countTimeExpressions(text: string, reference: number): number {
  return timeMentions(text, reference).length;
}
