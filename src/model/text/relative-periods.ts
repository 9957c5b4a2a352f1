import { type CalendarUnit, computePeriod, type TimeMention, type TimeRange } from './time-range.ts';

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
const UNIT = '(?<unit>day|week|weekend|month|year)s?';
/** The last week of May, or before an event, is not the one before the reference. */
const buildPeriodPattern = (body: string) => new RegExp(`\\b${body}\\b(?!\\s+(?:of|before|after)\\b)`, 'gi');

type Groups = Readonly<Record<string, string>>;
type Reading = (groups: Groups, reference: number) => TimeRange | null;

const readCalendarUnit = ({ unit }: Groups) => (unit as string).toLowerCase() as CalendarUnit;
/** The number that the group of {@link AMOUNT} holds. */
export const readAmount = ({ amount }: Groups) =>
  AMOUNTS[(amount as string).toLowerCase().replaceAll(/\s+/g, ' ')] ?? Number(amount);
const isPast = ({ side }: Groups) => /^(?:last|past|previous)$/i.test(side as string);

/** `the last 3 weeks`: from the first of them to the end of the week of the reference; `the next 3 weeks` likewise. */
function computeSpan(groups: Groups, reference: number): TimeRange {
  const far = computePeriod(
    readCalendarUnit(groups),
    reference,
    isPast(groups) ? -readAmount(groups) : readAmount(groups),
  );
  const near = computePeriod(readCalendarUnit(groups), reference, 0);
  return { from: Math.min(far.from, near.from), to: Math.max(far.to, near.to) };
}

const READINGS: readonly (readonly [RegExp, Reading])[] = [
  [
    buildPeriodPattern('(?<side>this|last|past|previous|next)\\s+(?<unit>week|weekend|month|year)'),
    (groups, reference) =>
      computePeriod(
        readCalendarUnit(groups),
        reference,
        isPast(groups) ? -1 : /^this$/i.test(groups.side as string) ? 0 : 1,
      ),
  ],
  [
    buildPeriodPattern(`(?<side>last|past|previous|next)\\s+${AMOUNT}\\s+${UNIT}`),
    (groups, reference) => (readCalendarUnit(groups) === 'weekend' ? null : computeSpan(groups, reference)),
  ],
  [
    buildPeriodPattern(`${AMOUNT}\\s+${UNIT}\\s+ago`),
    (groups, reference) => computePeriod(readCalendarUnit(groups), reference, -readAmount(groups)),
  ],
  [
    buildPeriodPattern(`${AMOUNT}\\s+${UNIT}\\s+from\\s+(?:now|today)`),
    (groups, reference) => computePeriod(readCalendarUnit(groups), reference, readAmount(groups)),
  ],
  [
    buildPeriodPattern(`in\\s+${AMOUNT}\\s+${UNIT}`),
    // `twice in a week` is a frequency, not a time.
    (groups, reference) =>
      /^an?$/i.test(groups.amount as string)
        ? null
        : computePeriod(readCalendarUnit(groups), reference, readAmount(groups)),
  ],
];

/**
 * Periods given by their distance from a reference (milliseconds UTC): `last week`, `2 months ago`, `in three days`, `the past few years`. Each has the
 * unit of its expression: two weeks ago is a week, two years ago a year. A few are three.
 */
export function findRelativePeriods(text: string, reference: number): TimeMention[] {
  return READINGS.flatMap(([expression, reading]) =>
    [...text.matchAll(expression)].flatMap((match) => {
      const range = reading(match.groups as Groups, reference);
      return range === null ? [] : [{ start: match.index, end: match.index + match[0].length, range }];
    }),
  );
}
