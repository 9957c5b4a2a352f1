import { buildMonthRange, type TimeMention, type TimeRange } from './time-range.ts';

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
/** The source of an expression that a month's name or its abbreviation matches. */
export const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const BEFORE_MONTH = 'in|since|until|till|during|throughout|this|last|next|early|mid|late|of';
/** A month without a day or a year, after a word that is not followed by a verb, a modal or a person's name. */
const LONE_MONTH = new RegExp(`\\b(${BEFORE_MONTH})[\\s-]+(${MONTH})\\b(?!['’]|,?\\s*\\d)`, 'gi');
/** Words after which even a lower-case `may` or `march` is a month. */
const SURE = /^(?:in|since|until|till|during)$/i;
const AMBIGUOUS = /^(?:may|march|mar)$/;

/** A number that is not part of a longer number, an amount, a version or an address; after a hyphen only as the end of `1998-2003`. */
const YEAR = /(?<![\w.$€£#:/@+]|\d,|\w\[|(?<!\b(?:19|20)\d\d)-)((?:19|20)\d\d)(s)?(?![\w%:/@]|[.,]\w)/g;
/** Units of the number 2000 that is not a year. */
const COUNTED =
  /^[\s-]+(?:people|persons|users|men|women|years|days|hours|minutes|seconds|times|words|lines|pages|files|messages|mails|bits?|bytes?|[kmg]b|[kmg]?hz|miles|km|m|metres|meters|feet|dollars|euros|pounds|bucks|rpm|watts)\b/i;

function chooseYear(side: string, month: number, reference: number): number {
  const date = new Date(reference);
  const [year, current] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (side === 'this') return year;
  if (side === 'last') return month < current ? year : year - 1;
  if (side === 'next') return month > current ? year : year + 1;
  return year - Math.round((month - current) / 12);
}

/** The month that a name or its abbreviation means, from 0. */
export function readMonth(name: string): number {
  return MONTHS.findIndex((full) => full.startsWith(name.toLowerCase().slice(0, 3)));
}

function findLoneMonths(text: string, reference: number): TimeMention[] {
  return [...text.matchAll(LONE_MONTH)].flatMap((match) => {
    const [whole, side, name] = match as unknown as [string, string, string];
    if (AMBIGUOUS.test(name) && !SURE.test(side)) return [];
    const month = readMonth(name);
    const range = buildMonthRange(chooseYear(side.toLowerCase(), month, reference), month, 1);
    return [{ start: match.index, end: match.index + whole.length, range }];
  });
}

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

/**
 * Months without a day or a year (`since May`, `last June`; by default the one nearest to the reference), years from 1900 to 2099 and
 * decades (`the 1990s`).
 */
export function findNamedPeriods(text: string, reference: number): TimeMention[] {
  return [...findLoneMonths(text, reference), ...findYears(text)];
}
