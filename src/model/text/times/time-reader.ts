import { createRequire } from 'node:module';
import type { en } from 'chrono-node';
import { once } from '../../../core/values/once.ts';
import { buildMonthRange, type Cycle, computePeriod, DAY, type TimeMention, type TimeRange } from './calendar.ts';

/** The moment of a text, and whether the text looks ahead. */
export interface TimeContext {
  readonly now: number;
  readonly future: boolean;
}

/** A time that a text names, before words such as `since` and `between` are read. */
export interface TimeAtom extends TimeMention {
  /** Given for a name without its year, such as `May`: the range is one of many. */
  readonly cycle?: Cycle | undefined;
  /** A word that names a time only beside another one: `March` of `between March and May`. */
  readonly weak?: boolean | undefined;
}

/** The named groups of a match. */
export type Groups = Readonly<Record<string, string | undefined>>;
/** The time that a match means; null for none. */
export type Reading = Pick<TimeAtom, 'range' | 'cycle' | 'weak'> | null;

/**
 * An expression and what its matches mean. Its source is matched between word boundaries.
 *
 * `before` is the text directly before the match, at most 24 characters.
 */
export type TimeRule = readonly [
  source: string,
  read: (groups: Groups, context: TimeContext, before: string) => Reading,
];

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

const AMOUNTS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  'a couple of': 2,
  'couple of': 2,
  three: 3,
  few: 3,
  'a few': 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
};
// Longer words first: a regular expression takes the first that fits.
const WORDS = Object.keys(AMOUNTS).sort((a, b) => b.length - a.length);
/** The source of an expression with the group `amount`. Not the end of `1.5`, `thirty-two` or `half a`. */
export const AMOUNT = `(?<!\\d[.,]|[a-z]-|half\\s)(?<amount>\\d{1,3}|${WORDS.join('|').replaceAll(' ', '\\s+')})`;

/** The number that the group of {@link AMOUNT} holds. */
export const readAmount = ({ amount }: Groups) =>
  AMOUNTS[(amount as string).toLowerCase().replaceAll(/\s+/g, ' ')] ?? Number(amount);

/** The number of units from the current one that a word such as `last` means. */
export function readOffset(side: string): number {
  return /^(?:this|current)$/i.test(side) ? 0 : /^(?:next|coming)$/i.test(side) ? 1 : -1;
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
/** The source of an expression that a month's name or its abbreviation matches. */
export const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';

/** The month that a name or its abbreviation means, from 0. */
export function readMonth(name: string): number {
  return MONTHS.findIndex((full) => full.startsWith(name.toLowerCase().slice(0, 3)));
}

/**
 * A number that is not part of a longer number, an amount, a version or an address; after a hyphen only as the end of
 * `1998-2003`.
 */
const YEAR = /(?<![\w.$€£#:/@+]|\d,|\w\[|(?<!\b(?:19|20)\d\d)-)((?:19|20)\d\d)(s)?(?![\w%:/@]|[.,]\w)/g;
/** Units of the number 2000 that is not a year. */
const COUNTED =
  /^[\s-]+(?:people|persons|users|men|women|years|days|hours|minutes|seconds|times|words|lines|pages|files|messages|mails|bits?|bytes?|[kmg]b|[kmg]?hz|miles|km|m|metres|meters|feet|dollars|euros|pounds|bucks|rpm|watts)\b/i;

function buildYearRange(year: number, plural: boolean): TimeRange | null {
  if (!plural) return buildMonthRange(year, 0, 12);
  return year % 10 === 0 ? buildMonthRange(year, 0, 120) : null;
}

/** Years from 1900 to 2099 and decades. */
function findYears(text: string): TimeMention[] {
  return [...text.matchAll(YEAR)].flatMap((match) => {
    const end = match.index + match[0].length;
    const range = buildYearRange(Number(match[1]), match[2] !== undefined);
    return range === null || COUNTED.test(text.slice(end, end + 20)) ? [] : [{ start: match.index, end, range }];
  });
}

type Result = ReturnType<typeof en.parse>[number];
type Components = Result['start'];

const require = createRequire(import.meta.url);

/** Loaded with the first text: its modules take a tenth of a second. */
const english = once(() => require('chrono-node/en') as typeof en);

const WEEK = 7 * DAY;
const WEEKDAY = /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend)\b/i;
/** Month names that are neither words nor names of people. */
const SURE_MONTH = /^(?:january|february|july|september|october|november|december)$/i;
/** `9/5/2023`, `9/5/23`, `9.5.2023`, `9/2023`: but not `1/2`, `24/7` and the version 2.4.18. */
const WHOLE_NUMERIC_DATE = /^(?:\d{4}\D|\d{1,2}\/\d{1,2}\/\d\d|.*\D\d{4}(?:\s|$))/;
/** The place of the text after `two weeks before` that chrono has parsed. */
const BESIDE_A_DATE = /\b(?:before|after|from|since)\s+(?!now\b|today\b)\S/i;
const VERB_AND_NUMBER = /^(?:(?:may|march|mar|sat|sun)\s*,?\s*\d+|\d+\s*(?:may|march|mar|sat|sun))$/;
const REPEATED = /\b(?:every|each)\s+$/i;

/**
 * A clock on the wall of this machine that shows the day of a reference in UTC at noon. Chrono computes with the
 * machine's wall clock in some places whatever time zone it is given; with this one it finds the same days everywhere,
 * and no change to summer time lies near.
 */
function buildWallClock(reference: number): Date {
  const date = new Date(reference);
  return new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), 12);
}

/** The day, month or year that is certain; null where only a time of day is. */
function readCertainPeriod(components: Components): TimeRange | null {
  const [year, month] = [components.get('year') as number, (components.get('month') as number) - 1];
  const day = Date.UTC(year, month, components.get('day') as number);
  if (components.isCertain('day') || components.isCertain('weekday')) return computePeriod('day', day, 0);
  if (components.isCertain('month')) return buildMonthRange(year, month, 1);
  return components.isCertain('year') ? buildMonthRange(year, 0, 12) : null;
}

/**
 * Text that chrono wrongly reads as a date, and text that rules read: chrono takes a month from 31 July for 1 July, and
 * a week for a day.
 */
function isMisread(result: Result, whole: string): boolean {
  const { text, start, index } = result;
  const before = whole.slice(0, index);
  const [year, month, day] = [start.isCertain('year'), start.isCertain('month'), start.isCertain('day')];
  if (/^now$/i.test(text)) return true;
  if (result.tags().has('result/relativeDate')) return !BESIDE_A_DATE.test(text);
  if (/^[\d\s:./-]+$/.test(text)) return !WHOLE_NUMERIC_DATE.test(text);
  if (VERB_AND_NUMBER.test(text)) return !/\bon\s+$/i.test(before);
  if (month && !day) return year ? !/\d{4}|['’]\d\d/.test(text) : !SURE_MONTH.test(text);
  const ofAPeriod = /^\s+of\b/i.test(whole.slice(index + text.length));
  return !day && start.isCertain('weekday') && (!WEEKDAY.test(text) || REPEATED.test(before) || ofAPeriod);
}

function resolveChronoRange({ text, start, end }: Result): TimeRange | null {
  const first = readCertainPeriod(start);
  if (first === null) return null;
  if (/^end\s+of\b/i.test(text)) return computePeriod('month', first.from, 0);
  if (/weekend/i.test(text)) return computePeriod('weekend', first.from, 0);
  if (/week/i.test(text) && !WEEKDAY.test(text)) return computePeriod('week', first.from, 0);
  const last = end ? readCertainPeriod(end) : null; // null at run time, undefined by its type
  return last !== null && last.to > first.to ? { from: first.from, to: last.to } : first;
}

/** Moved by whole weeks to the last one before, or to the first one after, a date. */
function moveBesideDate(range: TimeRange, side: string, date: TimeRange): TimeRange {
  const weeks =
    side === 'before' ? -Math.ceil((range.to - date.from) / WEEK) : Math.ceil((date.to - range.from) / WEEK);
  return { from: range.from + weeks * WEEK, to: range.to + weeks * WEEK };
}

/** `the Monday before 24 July`, of which chrono makes two dates, is one. */
function joinWeekdays(mentions: readonly TimeMention[], text: string): TimeMention[] {
  const joined: TimeMention[] = [];
  for (const mention of mentions) {
    const last = joined.at(-1);
    const between = last && /^\s+(before|after)\s+(?:the\s+)?$/i.exec(text.slice(last.end, mention.start));
    if (last && between && WEEKDAY.test(text.slice(last.start, last.end))) {
      const range = moveBesideDate(last.range, (between[1] as string).toLowerCase(), mention.range);
      joined[joined.length - 1] = { start: last.start, end: mention.end, range };
    } else joined.push(mention);
  }
  return joined;
}

/**
 * Dates, weekdays and words such as `yesterday` that chrono-node finds, without what it misreads: `may` and `march` as
 * verbs, names of people (`June`), numbers, fractions and versions, and times of day. A day without a year is in the
 * year nearest to the reference (milliseconds UTC).
 */
export function findChronoDates(text: string, reference: number): TimeMention[] {
  const mentions = english()
    .parse(text, buildWallClock(reference))
    .flatMap((result) => {
      const range = isMisread(result, text) ? null : resolveChronoRange(result);
      return range === null ? [] : [{ start: result.index, end: result.index + result.text.length, range }];
    });
  return joinWeekdays(mentions, text);
}

const BEFORE = 24;

/** Of overlapping readings the longest, since it covers more text; of equally long ones the first. */
function keepLongest(atoms: readonly TimeAtom[]): TimeAtom[] {
  const kept: TimeAtom[] = [];
  for (const atom of atoms.toSorted((a, b) => b.end - b.start - (a.end - a.start)))
    if (kept.every(({ start, end }) => atom.end <= start || end <= atom.start)) kept.push(atom);
  return kept.sort((a, b) => a.start - b.start);
}

/** The dates of chrono-node that are read beside the times that rules have found. */
type ChooseDates = (
  dates: readonly TimeMention[],
  text: string,
  found: readonly TimeAtom[],
  context: TimeContext,
) => readonly TimeAtom[];

/**
 * A function that finds the times that a text names by rules, as years and decades, and as dates of chrono-node. Times
 * that overlap are one, and they are in the order of the text.
 */
export function createTimeReader(
  rules: readonly TimeRule[],
  chooseDates: ChooseDates = (dates) => dates,
): (text: string, context: TimeContext) => TimeAtom[] {
  const compiled = rules.map(([source, read]) => [new RegExp(`\\b(?:${source})\\b`, 'gi'), read] as const);
  return (text, context) => {
    const byRule = compiled.flatMap(([expression, read]) =>
      [...text.matchAll(expression)].flatMap((match): TimeAtom[] => {
        const before = text.slice(Math.max(0, match.index - BEFORE), match.index);
        const reading = read(match.groups ?? {}, context, before);
        return reading === null ? [] : [{ start: match.index, end: match.index + match[0].length, ...reading }];
      }),
    );
    const found = [...byRule, ...findYears(text)];
    return keepLongest([...found, ...chooseDates(findChronoDates(text, context.now), text, found, context)]);
  };
}
