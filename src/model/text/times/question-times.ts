import { ValidationError } from '../../../core/errors/errors.ts';
import { readQuestionText } from '../question-text.ts';
import { type Cycle, moveRange, type TimeMention, type TimeRange } from './calendar.ts';
import { NAMED_TIMES } from './named-times.ts';
import { RELATIVE_TIMES } from './relative-times.ts';
import { modifyAtom, sliceAfter, sliceBefore } from './time-modifiers.ts';
import { createTimeReader } from './time-reader.ts';
import type { TimeAtom, TimeContext } from './time-rule.ts';
import { MONTH } from './time-words.ts';
import { ZoneClock } from './zone-clock.ts';

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
