import { ValidationError } from '../../../core/errors/errors.ts';
import { replaceByBlanks } from '../tokens.ts';
import { buildMonthRange, computePeriod, type TimeMention, type TimeRange, type TimeUnit } from './calendar.ts';
import {
  AMOUNT,
  createTimeReader,
  type Groups,
  MONTH,
  type Reading,
  readAmount,
  readMonth,
  readOffset,
  type TimeRule,
} from './time-reader.ts';

const UNITS = 'day|week|weekend|month|year';
const UNIT = `(?<unit>${UNITS})s?`;
/** The last week of May, or before an event, is not the one before the reference. */
const NOT_OF = '(?!\\s+(?:of|before|after)\\b)';

const BEFORE_MONTH = 'in|since|until|till|during|throughout|this|last|next|early|mid|late|of';
/** A month without a day or a year, after a word that is not followed by a verb, a modal or a person's name. */
const LONE_MONTH = `(?<side>${BEFORE_MONTH})[\\s-]+(?<month>${MONTH})(?!['’]|,?\\s*\\d)`;
/** Words after which even a lower-case `may` or `march` is a month. */
const SURE = /^(?:in|since|until|till|during)$/i;
const AMBIGUOUS = /^(?:may|march|mar)$/;

const readUnit = ({ unit }: Groups) => (unit as string).toLowerCase() as TimeUnit;

const countUnits =
  (direction: 1 | -1): TimeRule[1] =>
  (groups, { now }) => ({ range: computePeriod(readUnit(groups), now, direction * readAmount(groups)) });

/** `the last 3 weeks`: from the first of them to the end of the week of the reference; `the next 3 weeks` likewise. */
function readSpan(groups: Groups, now: number): Reading {
  const unit = readUnit(groups);
  if (unit === 'weekend') return null;
  const far = computePeriod(unit, now, readOffset(groups.side as string) * readAmount(groups));
  const near = computePeriod(unit, now, 0);
  return { range: { from: Math.min(far.from, near.from), to: Math.max(far.to, near.to) } };
}

/** By default the year in which the month is nearest to the reference. */
function chooseYear(side: string, month: number, reference: number): number {
  const date = new Date(reference);
  const [year, current] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (side === 'this') return year;
  if (side === 'last') return month < current ? year : year - 1;
  if (side === 'next') return month > current ? year : year + 1;
  return year - Math.round((month - current) / 12);
}

function readLoneMonth(groups: Groups, reference: number): Reading {
  const [side, name] = [groups.side as string, groups.month as string];
  if (AMBIGUOUS.test(name) && !SURE.test(side)) return null;
  const month = readMonth(name);
  return { range: buildMonthRange(chooseYear(side.toLowerCase(), month, reference), month, 1) };
}

/**
 * Periods given by their distance from a reference, each as wide as the unit of its expression (two weeks ago is a
 * week, two years ago a year; a few are three), and months without a day or a year: `since May`, `last June`.
 */
const TURN_TIMES: readonly TimeRule[] = [
  [
    `(?<side>this|last|past|previous|next)\\s+(?<unit>week|weekend|month|year)${NOT_OF}`,
    (groups, { now }) => ({ range: computePeriod(readUnit(groups), now, readOffset(groups.side as string)) }),
  ],
  [`(?<side>last|past|previous|next)\\s+${AMOUNT}\\s+${UNIT}${NOT_OF}`, (groups, { now }) => readSpan(groups, now)],
  [`${AMOUNT}\\s+${UNIT}\\s+ago${NOT_OF}`, countUnits(-1)],
  [`${AMOUNT}\\s+${UNIT}\\s+from\\s+(?:now|today)${NOT_OF}`, countUnits(1)],
  // `twice in a week` is a frequency, not a time.
  [`in\\s+(?!an?\\s+(?:${UNITS}))${AMOUNT}\\s+${UNIT}${NOT_OF}`, countUnits(1)],
  [LONE_MONTH, (groups, { now }) => readLoneMonth(groups, now)],
];

/**
 * Reads what a turn of a conversation says, or a question of a set of queries: from its moment, in UTC, whatever the
 * tense.
 */
export const readTurnTimes = createTimeReader(TURN_TIMES);

/**
 * Characters that are read: chrono-node needs four seconds for 32,000 that repeat `2 weeks before`, and a thirtieth of
 * a second for these.
 */
const READ_LENGTH = 2000;

function timeMentions(text: string, reference: number): TimeMention[] {
  if (Number.isNaN(new Date(reference).getTime()))
    throw new ValidationError(`reference time is not valid: ${reference}; pass milliseconds since 1970`, { reference });
  return readTurnTimes(replaceByBlanks(text.slice(0, READ_LENGTH)), { now: reference, future: false });
}

/**
 * The distinct times that occur in the first 2,000 characters of an English text, in the order of the text.
 *
 * A range is as wide as the unit in the text: `in May 2023` is the month, `last week` the week from Monday, `2019` the
 * year, `the past 3 days` the days up to the reference. A day or a month without a year is the one nearest to the
 * reference; `9/5`, times of day and seasons are not dates.
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

/**
 * The number of time expressions in the text, by the rules of {@link timeRanges}; the same time twice counts as two.
 */
export function countTimeExpressions(text: string, reference: number): number {
  return timeMentions(text, reference).length;
}
