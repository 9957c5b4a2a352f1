import { ValidationError } from '../../../core/errors/errors.ts';
import { readQuestionText } from '../question-text.ts';
import {
  buildMonthRange,
  type Cycle,
  chooseRange,
  computePeriod,
  DAY,
  moveRange,
  type Side,
  type TimeMention,
  type TimeRange,
  ZoneClock,
} from './calendar.ts';
import { RELATIVE_TIMES } from './relative-times.ts';
import { modifyAtom, sliceAfter, sliceBefore } from './time-modifiers.ts';
import {
  AMOUNT,
  createTimeReader,
  type Groups,
  MONTH,
  type Reading,
  readAmount,
  readMonth,
  readOffset,
  type TimeAtom,
  type TimeContext,
  type TimeRule,
} from './time-reader.ts';

const YEAR = '(?:(?<year>(?:19|20)\\d\\d)(?!\\d)|(?<yearSide>last|this|next|the previous) year)';
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const WEEKDAY = `(?<weekday>${WEEKDAYS.join('|')})`;
const SEASONS: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 };
const SEASON = `(?<season>${Object.keys(SEASONS).join('|')})`;
const SIDE = '(?:(?<side>last|past|previous|this|next|coming) )?';
const ORDINAL = '(?:st|nd|rd|th)?';
const ORDINALS = ['first', 'second', 'third', 'fourth'];
/** Words after which `May`, `spring` or `Friday` is a time. */
const LEAD =
  /\b(?:on|in|of|during|throughout|since|before|after|until|till|through|from|early|mid|late|over|than|versus|vs|compared? (?:to|with))[ -](?:the )?$/i;

function readSide(word: string | undefined, { future }: TimeContext): Side {
  if (word === undefined) return future ? 'next' : 'past';
  if (/^(?:last|past|previous)$/i.test(word)) return 'last';
  return /^this$/i.test(word) ? 'this' : 'next';
}

function readYear({ year, yearSide }: Groups, { now }: TimeContext): number | null {
  if (year !== undefined) return Number(year);
  if (yearSide === undefined) return null;
  const offset = /^this$/i.test(yearSide) ? 0 : /^next$/i.test(yearSide) ? 1 : -1;
  return new Date(now).getUTCFullYear() + offset;
}

/** The time of a name in a given year, or in the year that the moment of the question and the word before choose. */
function readYearly(groups: Groups, context: TimeContext, build: (year: number) => TimeRange): Reading {
  const year = readYear(groups, context);
  if (year !== null) return { range: build(year) };
  const current = build(new Date(context.now).getUTCFullYear());
  return {
    range: chooseRange(current, 'year', readSide(groups.side, context), context.now),
    cycle: groups.side === undefined ? 'year' : undefined,
  };
}

function readMonthName(groups: Groups, context: TimeContext, before: string): Reading {
  const month = readMonth(groups.month as string);
  const reading = readYearly(groups, context, (year) => buildMonthRange(year, month, 1));
  const isSure = LEAD.test(before) || groups.side !== undefined || readYear(groups, context) !== null;
  return reading && { ...reading, weak: !isSure };
}

/** One day of a month, or the days up to `lastDay`; null for 31 April. */
function readDate(groups: Groups, context: TimeContext, before: string): Reading {
  const [day, lastDay] = [Number(groups.day), Number(groups.lastDay ?? groups.day)];
  const name = groups.month as string;
  if (/^(?:may|march|mar)$/.test(name) && !LEAD.test(before)) return null;
  const month = readMonth(name);
  const days = new Date(Date.UTC(readYear(groups, context) ?? 2024, month + 1, 0)).getUTCDate();
  if (day < 1 || lastDay < day || lastDay > days) return null;
  return readYearly(groups, context, (year) => ({
    from: Date.UTC(year, month, day),
    to: Date.UTC(year, month, lastDay + 1),
  }));
}

/** The nearest month that has the day and has begun with it, or of a question that looks ahead one that has not. */
function readDayOfMonth({ day }: Groups, { now, future }: TimeContext): Reading {
  for (let offset = 0; Math.abs(offset) <= 2; offset += future ? 1 : -1) {
    const { from, to } = computePeriod('month', now, offset);
    const range = { from: from + (Number(day) - 1) * DAY, to: from + Number(day) * DAY };
    const isThere = from <= range.from && range.to <= to;
    if (isThere && (future ? range.to > now : range.from <= now)) return { range };
  }
  return null;
}

function readWeekday(groups: Groups, context: TimeContext, before: string): Reading {
  if (/\b(?:every|each) $/i.test(before)) return null;
  const day = WEEKDAYS.indexOf((groups.weekday as string).toLowerCase());
  const computeInWeek = (offset: number) => {
    const from = computePeriod('week', context.now, offset).from + day * DAY;
    return { from, to: from + DAY };
  };
  if (groups.week !== undefined) return { range: computeInWeek(readOffset(groups.week)) };
  const side = readSide(groups.side, context);
  if (groups.side !== undefined && side !== 'last') return { range: computeInWeek(side === 'this' ? 0 : 1) };
  const range = chooseRange(computeInWeek(0), 'week', side === 'next' ? 'next' : 'last', context.now);
  return { range, cycle: 'week', weak: groups.side === undefined && !LEAD.test(before) && !/\bby $/i.test(before) };
}

/** From 0; the last is the fourth. */
function readQuarter(nth: string): number {
  const digit = Number.parseInt(nth, 10);
  if (!Number.isNaN(digit)) return digit - 1;
  return nth.toLowerCase() === 'last' ? 3 : ORDINALS.indexOf(nth.toLowerCase());
}

/** Three months from March, June, September or December. */
function readSeason(groups: Groups, context: TimeContext, before: string): Reading {
  const isSure = LEAD.test(before) || groups.side !== undefined || readYear(groups, context) !== null;
  const month = SEASONS[(groups.season as string).toLowerCase()] as number;
  return isSure ? readYearly(groups, context, (year) => buildMonthRange(year, month, 3)) : null;
}

/** Times with a name or a number: weekdays, dates, months, quarters, seasons. */
const NAMED_TIMES: readonly TimeRule[] = [
  [
    `${AMOUNT} ${WEEKDAY}s? ago`,
    (groups, context) => {
      const last = readWeekday({ weekday: groups.weekday, side: 'last' }, context, '');
      return last && { range: moveRange(last.range, 'week', 1 - readAmount(groups)) };
    },
  ],
  [`${SIDE}${WEEKDAY}(?:,? (?:of )?(?<week>last|this|next) week)?`, readWeekday],
  [
    `q(?<nth>[1-4])(?:(?: of|,)?[ /-]?${YEAR})?`,
    (groups, context) =>
      readYearly(groups, context, (year) => buildMonthRange(year, 3 * readQuarter(groups.nth as string), 3)),
  ],
  [
    `(?<nth>${ORDINALS.join('|')}|last(?= quarter of)|[1-4](?:st|nd|rd|th)) quarter(?:(?: of|,| in)? ${YEAR})?(?! of\\b)`,
    (groups, context) =>
      readYearly(groups, context, (year) => buildMonthRange(year, 3 * readQuarter(groups.nth as string), 3)),
  ],
  [
    `h(?<nth>[12])[ /-]?${YEAR}`,
    (groups, context) => readYearly(groups, context, (year) => buildMonthRange(year, 6 * Number(groups.nth) - 6, 6)),
  ],
  [`${SIDE}${SEASON}(?:(?: of|,)? ${YEAR})?`, readSeason],
  [`${SIDE}(?<month>${MONTH})(?:(?: of|,)? ${YEAR})?(?!\\.? \\d|-\\d)`, readMonthName],
  [`(?<day>\\d{1,2})${ORDINAL}(?: of)? (?<month>${MONTH})(?:(?: of|,)? ${YEAR})?`, readDate],
  [`(?<month>${MONTH})\\.? (?:the )?(?<day>\\d{1,2})${ORDINAL}(?![\\d:])(?:(?: of|,)? ${YEAR})?`, readDate],
  [
    `(?<day>\\d{1,2})${ORDINAL} ?(?:and|to|until|till|through|-|–) ?(?:the )?(?<lastDay>\\d{1,2})${ORDINAL}(?: of)? (?<month>${MONTH})(?:(?: of|,)? ${YEAR})?`,
    readDate,
  ],
  [
    `(?<month>${MONTH}) (?<day>\\d{1,2})${ORDINAL} ?(?:to|until|till|through|-|–) ?(?:the )?(?<lastDay>\\d{1,2})${ORDINAL}(?![\\d:])(?:(?: of|,)? ${YEAR})?`,
    readDate,
  ],
  ['(?<=\\bon )the (?<day>\\d{1,2})(?:st|nd|rd|th)(?! (?!at\\b|in\\b|and\\b|to\\b)[a-z])', readDayOfMonth],
];

/** From `start` up to, but not including, `end`, in milliseconds UTC. */
export interface QueryTimeRange {
  readonly start: number;
  readonly end: number;
}

/** The time of a question and where the text names it. */
interface QuestionTimes {
  readonly range: QueryTimeRange | null;
  readonly mentions: readonly TimeAtom[];
}

/** When and where a question is asked. */
export interface QueryMoment {
  /** In milliseconds UTC. */
  readonly timestamp: number;
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

/** The start of a range without a beginning: the first time that a Date can hold. */
export const EARLIEST_TIME = -8.64e15;
/** The end of a range without an end: the last time that a Date can hold. */
export const LATEST_TIME = 8.64e15;

const FUTURE = /\b(?:will|going to|upcoming|coming up|planned|planning|scheduled|due)\b|'ll\b/i;
const PAST = /\b(?:did|was|were|had)\b/i;
/** Between the two times of a range, and the words directly before the first of them. */
const JOINER = /^ ?(?:(?<and>and)|to|until|till|through|up to|-|–|—) ?(?:the )?(?:on )?$/i;
const BETWEEN = /\bbetween (?:the )?$/i;
const FROM = /\b(?:from|between) (?:the )?(?:on )?$/i;
const SINCE = /\b(?:since|starting(?: on| in)?) (?:the )?$/i;
const ONWARD = /^ (?:on|onwards?)\b/i;
const BEFORE = /\b(?:before|prior to|earlier than|older than) (?:the )?$/i;
const UNTIL = /\b(?:until|till|through|up to|by|as of) (?:the )?$/i;
const AFTER = /\b(?:after|later than|newer than) (?:the )?$/i;

/** What chrono reads better than the rules, which see a part of it: two weeks before a date, and dates in numbers. */
const SURE_OTHER = /^[\d./-]+$|\b(?:before|after) /i;
const MONTH_NAME = new RegExp(`\\b(?:${MONTH})\\b`, 'i');

/** Chrono's days where no rule reads anything, and those beside a date: `two weeks before 19 May`. A month without a year is the latest, or of a question that looks ahead the next. */
function chooseDates(
  dates: readonly TimeMention[],
  text: string,
  found: readonly TimeAtom[],
  { now, future }: TimeContext,
): TimeAtom[] {
  return dates.flatMap((mention): TimeAtom[] => {
    const written = text.slice(mention.start, mention.end);
    const isRead = found.some(({ start, end }) => start < mention.end && mention.start < end);
    if (isRead && !SURE_OTHER.test(written)) return [];
    const isOpen = MONTH_NAME.test(written) && !/\d{4}/.test(written);
    const isWrong = isOpen && (future ? mention.range.to <= now : mention.range.from > now);
    return [isWrong ? { ...mention, range: moveRange(mention.range, 'year', future ? 1 : -1) } : mention];
  });
}

const readQuestionAtoms = createTimeReader([...RELATIVE_TIMES, ...NAMED_TIMES], chooseDates);

/** Moved by whole cycles to the last time that does not begin after another one. */
function moveBefore(range: TimeRange, cycle: Cycle, other: TimeRange): TimeRange {
  let moved = range;
  while (moved.from > other.from) moved = moveRange(moved, cycle, -1);
  for (let next = moveRange(moved, cycle, 1); next.from <= other.from; next = moveRange(next, cycle, 1)) moved = next;
  return moved;
}

/** `between March and May 2023`, `from Monday to Friday`, `2019-2021` as one. */
function joinPairs(atoms: readonly TimeAtom[], text: string): TimeAtom[] {
  const joined: TimeAtom[] = [];
  for (const atom of atoms) {
    const last = joined.at(-1);
    const joiner = last && JOINER.exec(text.slice(last.end, atom.start));
    const before = last === undefined ? '' : sliceBefore(text, last.start);
    if (!last || !joiner || (joiner.groups?.and !== undefined && !BETWEEN.test(before))) {
      joined.push(atom);
      continue;
    }
    const first = last.cycle === undefined ? last.range : moveBefore(last.range, last.cycle, atom.range);
    const start = last.start - (FROM.exec(before)?.[0].length ?? 0);
    const range = { from: first.from, to: Math.max(first.to, atom.range.to) };
    joined[joined.length - 1] = { start, end: atom.end, range };
  }
  return joined.filter(({ weak }) => weak !== true);
}

/** `since`, `before`, `until` and `after` a time. */
function openSide({ start, end, range }: TimeAtom, text: string, { now, future }: TimeContext): TimeRange {
  const [before, after] = [sliceBefore(text, start), sliceAfter(text, end)];
  if (SINCE.test(before) || (FROM.test(before) && ONWARD.test(after)))
    return { from: range.from, to: range.from < now ? now : LATEST_TIME };
  const earliest = future ? now : EARLIEST_TIME;
  if (BEFORE.test(before) && earliest < range.from) return { from: earliest, to: range.from };
  if (UNTIL.test(before) && earliest < range.to) return { from: earliest, to: range.to };
  if (AFTER.test(before)) return { from: range.to, to: range.to < now ? now : LATEST_TIME };
  return range;
}

/** What all ranges share; where they share nothing, everything from the first to the last. */
function combine(ranges: readonly TimeRange[]): TimeRange | null {
  if (ranges.length === 0) return null;
  const [froms, tos] = [ranges.map(({ from }) => from), ranges.map(({ to }) => to)];
  const shared = { from: Math.max(...froms), to: Math.min(...tos) };
  return shared.from < shared.to ? shared : { from: Math.min(...froms), to: Math.max(...tos) };
}

/**
 * The time that an English question is about, in the calendar of its time zone: a day may have 23 or 25 hours.
 *
 * A range is as wide as the unit in the text: `last week` is the week from Monday, `two months ago` a month, `in May` the latest May that has begun. `The last 3 days`
 * and `the past month` end now, `recently` means 7 days. `since`, `before`, `until` and `after` leave one side open: {@link EARLIEST_TIME}, now, or
 * {@link LATEST_TIME}. Several times give what they share; if they share nothing, the range from the first to the last. Seasons are those of the northern half of
 * the earth, three months each. Dates that no rule reads are chrono-node's.
 *
 * @returns null for a question that names no time, and for one in another language.
 * @throws ValidationError for an empty question, a timestamp that is no time, and an unknown time zone.
 */
export function findTimeRange(question: string, moment: QueryMoment): QueryTimeRange | null {
  return readTimes(readQuestionText(question), moment).range;
}

/** {@link findTimeRange} of a text of `readQuestionText`, with the places of the times. */
export function readTimes(text: string, { timestamp, timeZone }: QueryMoment): QuestionTimes {
  const clock = ZoneClock.of(timeZone);
  if (Number.isNaN(new Date(timestamp).getTime()))
    throw new ValidationError(`timestamp is not valid: ${timestamp}; pass milliseconds since 1970`, { timestamp });
  const now = clock.readWall(timestamp);
  const context = { now, future: FUTURE.test(text) && !PAST.test(text) };
  const joined = joinPairs(
    readQuestionAtoms(text, context).map((atom) => modifyAtom(atom, text)),
    text,
  );
  const range = combine(joined.map((atom) => openSide(atom, text, context)));
  if (range === null) return { range: null, mentions: [] };
  const findBound = (wall: number) => {
    if (Math.abs(wall) === LATEST_TIME) return wall;
    return wall === now ? timestamp : clock.findInstant(wall);
  };
  const [start, end] = [findBound(range.from), findBound(range.to)];
  return { range: start < end ? { start, end } : null, mentions: joined };
}
