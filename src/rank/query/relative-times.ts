import { AMOUNT, readAmount } from '../../model/text/relative-periods.ts';
import { computePeriod, type TimeRange } from '../../model/text/time-range.ts';
import { chooseRange, computeUnit, moveBy, readOffset, type TimeUnit } from './calendar.ts';
import { NIGHT, PARTS_OF_DAY, takeHours } from './parts-of-day.ts';
import type { Groups, Reading, TimeRule } from './time-rule.ts';

type Read = TimeRule[1];

const UNIT = '(?<unit>minute|hour|day|week|weekend|month|quarter|year)';
const OTHER_UNIT = UNIT.replace('unit', 'otherUnit');
/** Units of a span that ends or begins now. */
const SPAN_UNIT = '(?<unit>minute|hour|day|week|month|quarter|year)';

const single = (range: TimeRange): Reading => ({ range });

const readUnit = ({ unit, otherUnit }: Groups) => (unit ?? (otherUnit as string)).toLowerCase() as TimeUnit;
const readCount = (groups: Groups) => readAmount(groups as Readonly<Record<string, string>>);

const countUnits =
  (direction: 1 | -1): Read =>
  (groups, { now }) =>
    single(computeUnit(readUnit(groups), now, direction * readCount(groups)));

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
    (groups, { now }) => single({ from: computeUnit(readUnit(groups), now, 0).from, to: now }),
  ],
  [
    '(?:the (?:last|past)|(?<!this )past) (?<unit>hour|week|month|quarter|year)(?! (?:of|but|before))',
    upToNow(readUnit, () => 1),
  ],
  [`(?:last|past|previous) ${AMOUNT} ${SPAN_UNIT}s?`, upToNow(readUnit, readCount)],
  [
    `next ${AMOUNT} ${SPAN_UNIT}s?`,
    (groups, { now }) => single({ from: now, to: moveBy(now, readUnit(groups), readCount(groups)) }),
  ],
  [
    `(?:this )?(?<side>last|past|previous|this|current|next|coming) ${UNIT}(?! (?:of|but|before|after)\\b)`,
    (groups, { now }) => single(computeUnit(readUnit(groups), now, readOffset(groups.side as string))),
  ],
  [
    '(?:over|during|on) the weekend',
    (_, { now, future }) =>
      single(chooseRange(computePeriod('weekend', now, 0), 'week', future ? 'next' : 'past', now)),
  ],
  [
    `(?:last ${UNIT} but one|(?:the )?${OTHER_UNIT} before last)`,
    (groups, { now }) => single(computeUnit(readUnit(groups), now, -2)),
  ],
  [`${AMOUNT} ${UNIT}s? ago`, countUnits(-1)],
  [`${AMOUNT} ${UNIT}s? from (?:now|today)`, countUnits(1)],
  [`in (?!an? )${AMOUNT} ${UNIT}s?(?! of\\b)`, countUnits(1)],
  [
    'the (?<unit>month|quarter|year)',
    (groups, { now }) => ({ range: computeUnit(readUnit(groups), now, 0), weak: true }),
  ],
];
