import { ValidationError } from '../core/errors.ts';
import { blankAddresses } from './addresses.ts';
import { chronoDates } from './chrono-dates.ts';
import { namedPeriods } from './named-periods.ts';
import { relativePeriods } from './relative-periods.ts';
import type { TimeMention, TimeRange } from './time-range.ts';

/** Characters that are read: chrono-node needs four seconds for 32,000 that repeat `2 weeks before`, and a thirtieth of a second for these. */
const READ_LENGTH = 2000;

/** Where two readings overlap the longer one stands, since it has understood more; of equally long ones the first. */
function withoutOverlaps(mentions: readonly TimeMention[]): TimeMention[] {
  const longestFirst = mentions.toSorted((a, b) => b.end - b.start - (a.end - a.start));
  const kept: TimeMention[] = [];
  for (const mention of longestFirst)
    if (kept.every(({ start, end }) => mention.end <= start || end <= mention.start)) kept.push(mention);
  return kept.sort((a, b) => a.start - b.start);
}

function timeMentions(text: string, reference: number): TimeMention[] {
  if (Number.isNaN(new Date(reference).getTime()))
    throw new ValidationError(`reference time is not valid: ${reference}; pass milliseconds since 1970`, { reference });
  const read = blankAddresses(text.slice(0, READ_LENGTH));
  return withoutOverlaps([
    ...relativePeriods(read, reference),
    ...namedPeriods(read, reference),
    ...chronoDates(read, reference),
  ]);
}

/**
 * The distinct times that the first 2,000 characters of an English text tell, in the order in which it tells them.
 *
 * A range is as wide as what the text is certain of: `in May 2023` is the month, `last week` the week from Monday, `2019` the year, `the past 3 days` the days up
 * to the reference. A day or a month without a year is the one nearest to the reference; `9/5` and times of day are no dates, a season is none either.
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

/** How often the text tells a time, by the rules of {@link timeRanges}; the same time twice is two. */
export function countTimeExpressions(text: string, reference: number): number {
  return timeMentions(text, reference).length;
}
