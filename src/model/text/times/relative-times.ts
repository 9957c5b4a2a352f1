import { chooseRange, computePeriod, moveBy, type TimeRange, type TimeUnit } from './calendar.ts';
import {
  AMOUNT,
  type Groups,
  NIGHT,
  PARTS_OF_DAY,
  type Reading,
  readAmount,
  readOffset,
  type TimeRule,
  takeHours,
} from './time-reader.ts';

type Read = TimeRule[1];

const UNIT = '(?<unit>minute|hour|day|week|weekend|month|quarter|year)';
const OTHER_UNIT = UNIT.replace('unit', 'otherUnit');
/** Units of a span that ends or begins now. */
const SPAN_UNIT = '(?<unit>minute|hour|day|week|month|quarter|year)';

const single = (range: TimeRange): Reading => ({ range });

const readUnit = ({ unit, otherUnit }: Groups) => (unit ?? (otherUnit as string)).toLowerCase() as TimeUnit;

const countUnits =
  (direction: 1 | -1): Read =>
  (groups, { now }) =>
    single(computePeriod(readUnit(groups), now, direction * readAmount(groups)));

const upToNow =
  (unit: (groups: Groups) => TimeUnit, amount: (groups: Groups) => number): Read =>
  (groups, { now }) =>
    single({ from: moveBy(now, unit(groups), -amount(groups)), to: now });

const readDay =
  (offset: number): Read =>
  (_, { now }) =>
    single(computePeriod('day', now, offset));

const readPartOfDay =
  (offset: number, part?: string): Read =>
  (groups, { now }) =>
    single(
      takeHours(
        computePeriod('day', now, offset),
        PARTS_OF_DAY[part ?? (groups.part as string).toLowerCase()] ?? NIGHT,
      ),
    );

/** Times by their distance from now: days, units of the calendar, spans up to now. */
export const RELATIVE_TIMES: readonly TimeRule[] = [
  ['(?:the )?day before yesterday', readDay(-2)],
  ['(?:the )?day after tomorrow', readDay(2)],
  ['yesterday', readDay(-1)],
  ['today', readDay(0)],
  ['tomorrow', readDay(1)],
  ['last night', readPartOfDay(-1, 'night')],
  ['tonight', readPartOfDay(0, 'night')],
  ['this (?<part>morning|afternoon|evening)', readPartOfDay(0)],
  [
    '(?<!(?:most|more|how|less|so) )(?:recent|recently|lately|of late)',
    upToNow(
      () => 'day',
      () => 7,
    ),
  ],
  [
    `(?:so far this ${UNIT}|${OTHER_UNIT} to date)`,
    (groups, { now }) => single({ from: computePeriod(readUnit(groups), now, 0).from, to: now }),
  ],
  [
    '(?:the (?:last|past)|(?<!this )past) (?<unit>hour|week|month|quarter|year)(?! (?:of|but|before))',
    upToNow(readUnit, () => 1),
  ],
  [`(?:last|past|previous) ${AMOUNT} ${SPAN_UNIT}s?`, upToNow(readUnit, readAmount)],
  [
    `next ${AMOUNT} ${SPAN_UNIT}s?`,
    (groups, { now }) => single({ from: now, to: moveBy(now, readUnit(groups), readAmount(groups)) }),
  ],
  [
    `(?:this )?(?<side>last|past|previous|this|current|next|coming) ${UNIT}(?! (?:of|but|before|after)\\b)`,
    (groups, { now }) => single(computePeriod(readUnit(groups), now, readOffset(groups.side as string))),
  ],
  [
    '(?:over|during|on) the weekend',
    (_, { now, future }) =>
      single(chooseRange(computePeriod('weekend', now, 0), 'week', future ? 'next' : 'past', now)),
  ],
  [
    `(?:last ${UNIT} but one|(?:the )?${OTHER_UNIT} before last)`,
    (groups, { now }) => single(computePeriod(readUnit(groups), now, -2)),
  ],
  [`${AMOUNT} ${UNIT}s? ago`, countUnits(-1)],
  [`${AMOUNT} ${UNIT}s? from (?:now|today)`, countUnits(1)],
  [`in (?!an? )${AMOUNT} ${UNIT}s?(?! of\\b)`, countUnits(1)],
  [
    'the (?<unit>month|quarter|year)',
    (groups, { now }) => ({ range: computePeriod(readUnit(groups), now, 0), weak: true }),
  ],
];
