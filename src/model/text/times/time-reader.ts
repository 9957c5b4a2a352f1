import { createRequire } from 'node:module';
import type { en } from 'chrono-node';
import { once } from '../../../core/values/once.ts';
import { buildMonthRange, computePeriod, DAY, type TimeMention, type TimeRange } from './calendar.ts';
import { findYears, type TimeAtom, type TimeContext, type TimeRule } from './time-words.ts';

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
