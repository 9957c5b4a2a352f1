import { buildMonthRange, type Cycle, DAY, type TimeMention, type TimeRange } from './calendar.ts';

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

/** How many units from the current one a word such as `last` means. */
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

/** A number that is not part of a longer number, an amount, a version or an address; after a hyphen only as the end of `1998-2003`. */
const YEAR = /(?<![\w.$€£#:/@+]|\d,|\w\[|(?<!\b(?:19|20)\d\d)-)((?:19|20)\d\d)(s)?(?![\w%:/@]|[.,]\w)/g;
/** Units of the number 2000 that is not a year. */
const COUNTED =
  /^[\s-]+(?:people|persons|users|men|women|years|days|hours|minutes|seconds|times|words|lines|pages|files|messages|mails|bits?|bytes?|[kmg]b|[kmg]?hz|miles|km|m|metres|meters|feet|dollars|euros|pounds|bucks|rpm|watts)\b/i;

function buildYearRange(year: number, plural: boolean): TimeRange | null {
  if (!plural) return buildMonthRange(year, 0, 12);
  return year % 10 === 0 ? buildMonthRange(year, 0, 120) : null;
}

/** Years from 1900 to 2099 and decades. */
export function findYears(text: string): TimeMention[] {
  return [...text.matchAll(YEAR)].flatMap((match) => {
    const end = match.index + match[0].length;
    const range = buildYearRange(Number(match[1]), match[2] !== undefined);
    return range === null || COUNTED.test(text.slice(end, end + 20)) ? [] : [{ start: match.index, end, range }];
  });
}
