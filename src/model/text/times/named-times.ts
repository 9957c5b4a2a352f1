import { buildMonthRange, chooseRange, computePeriod, DAY, moveRange, type Side, type TimeRange } from './calendar.ts';
import type { Groups, Reading, TimeContext, TimeRule } from './time-rule.ts';
import { AMOUNT, MONTH, readAmount, readMonth, readOffset } from './time-words.ts';

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

/** What a name means in a year that is given, or in the one that the question's moment and the word before it choose. */
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
export const NAMED_TIMES: readonly TimeRule[] = [
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
