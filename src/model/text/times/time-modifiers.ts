import { computePeriod, DAY, type TimeRange, type TimeUnit } from './calendar.ts';
import { type Groups, type Hours, PARTS_OF_DAY, type TimeAtom, takeHours } from './time-reader.ts';

/** Characters beside a time that decide how it is read. */
const BESIDE = 40;
/** What is often done after it was due. */
const DUE_VERB =
  '(?:pay|arrive|deliver|submit|settle|respond)s?|paid|arrived|delivered|submitted|settled|responded|repl(?:y|ies|ied)|(?:pay|arriv|deliver|submitt|settl|respond|reply|com)ing|comes?|came';
const PARTICLE = '(?:in|on|at|by|to|of|from|for|out|up|back|since|until|till|before|after|between|and|or)';
/** `late` as in `in late May` and `ordered late last month`, but not as in `paid late`, `paid two invoices late`, `were late` and `too late`. */
const LATE_PART = `(?<!\\b(?:${DUE_VERB})(?: (?!${PARTICLE} )[^ ,;:.?!]+){0,3} )(?<!\\b(?:be|been|being|is|are|was|were|too|so|very|how) )late`;
/** Words before a time that take a part of it, or the week that a day is in. */
const MODIFIERS: readonly (readonly [
  RegExp,
  (range: TimeRange, match: RegExpExecArray) => TimeRange,
  ofDays?: true,
])[] = [
  [
    /\b(?:the )?week (?:of|beginning|starting|from)(?: on)? (?:the )?$/i,
    ({ from }) => computePeriod('week', from, 0),
    true,
  ],
  [
    /\b(?:the )?(?:last )?(week|weekend|month|year) before (?:the )?$/i,
    ({ from }, [, unit]) => computePeriod((unit as string).toLowerCase() as TimeUnit, from, -1),
    true,
  ],
  [/\b(?:the )?weekend of (?:the )?$/i, ({ from }) => computePeriod('weekend', from, 0), true],
  [/\b(?:the )?(first|second|last) half of (?:the )?$/i, (range, [, nth]) => takePart(range, isFirst(nth) ? 0 : 1, 2)],
  [
    /\b(?:the )?(first|last) week of (?:the )?$/i,
    ({ from, to }, [, nth]) => (isFirst(nth) ? { from, to: from + 7 * DAY } : { from: to - 7 * DAY, to }),
  ],
  [
    /\b(?:the )?(first|last) day of (?:the )?$/i,
    ({ from, to }, [, nth]) => (isFirst(nth) ? { from, to: from + DAY } : { from: to - DAY, to }),
  ],
  [/\b(?:early(?: in)?|(?:the )?(?:beginning|start) of)[ -](?:the )?$/i, (range) => takePart(range, 0, 3)],
  [/\b(?:mid|(?:the )?middle of)[ -](?:the )?$/i, (range) => takePart(range, 1, 3)],
  [new RegExp(`\\b(?:late in|${LATE_PART}|(?:the )?end of)[ -](?:the )?$`, 'i'), (range) => takePart(range, 2, 3)],
];
const PART_AFTER = /^(?:'s)? (?:in the )?(?<part>morning|afternoon|evening|night)\b/i;
const PART_BEFORE = /\b(?:the )?(?<part>morning|afternoon|evening|night) of (?:the )?$/i;
const CLOCK =
  '(?<hour>\\d{1,2})(?::(?<minute>\\d\\d))? ?(?:(?<half>[ap])\\.?m\\b\\.?)|(?<hour24>\\d{1,2}):(?<minute24>\\d\\d)|(?<name>noon|midnight)';
const CLOCK_AFTER = new RegExp(`^(?:'s)?,? (?:at|around|about) (?:${CLOCK})`, 'i');
const CLOCK_BEFORE = new RegExp(`\\b(?:${CLOCK})(?: on)? (?:the )?$`, 'i');

/** `between 9 and 11 am`: the first hour has the half of the day that the second one has. */
const HOURS = `(?:between|from) (?<first>\\d{1,2})(?::(?<firstMinute>\\d\\d))? ?(?:(?<firstHalf>[ap])\\.?m\\.?)? ?(?:and|to|until|till|-|–) ?(?:${CLOCK})`;
const HOURS_AFTER = new RegExp(`^(?:'s)?,? ${HOURS}`, 'i');
const HOURS_BEFORE = new RegExp(`\\b${HOURS}(?: on)? (?:the )?$`, 'i');

const isFirst = (word: string | undefined) => /^first$/i.test(word ?? '');

/** One of the equal parts of a range, in whole days or, of months and years, in whole units. */
function takePart(range: TimeRange, part: number, parts: number): TimeRange {
  const cut = (share: number) => {
    const time = range.from + (range.to - range.from) * share;
    if (share === 0 || share === 1) return time;
    const { from, to } = computePeriod('month', time, 0);
    const isLong = range.to - range.from > 80 * DAY;
    if (!isLong) return range.from + Math.floor(((range.to - range.from) * share) / DAY) * DAY;
    return time - from < to - time ? from : to;
  };
  return { from: cut(part / parts), to: cut((part + 1) / parts) };
}

export const sliceBefore = (text: string, at: number) => text.slice(Math.max(0, at - BESIDE), at);
export const sliceAfter = (text: string, at: number) => text.slice(at, at + BESIDE);

function readHours(groups: Groups, to: number): Hours | null {
  const { first, firstMinute, firstHalf = groups.half } = groups;
  const read = firstHalf === undefined ? Number(first) : (Number(first) % 12) + (/^p$/i.test(firstHalf) ? 12 : 0);
  const from = read + Number(firstMinute ?? 0) / 60;
  return from < to ? { from, to } : null;
}

function readClock(groups: Groups): Hours | null {
  const { hour, half, hour24, name, minute = groups.minute24 } = groups;
  if (name !== undefined) return /^noon$/i.test(name) ? { from: 12, to: 13 } : { from: 0, to: 1 };
  const read = hour24 === undefined ? (Number(hour) % 12) + (/^p$/i.test(half ?? '') ? 12 : 0) : Number(hour24);
  if (read > 23 || Number(hour ?? 1) > 12 || Number(minute ?? 0) > 59) return null;
  const from = read + Number(minute ?? 0) / 60;
  if (groups.first !== undefined) return readHours(groups, from);
  return { from, to: minute === undefined ? from + 1 : from + 1 / 60 };
}

/** `early` March, the `second half of` 2023, yesterday `evening`, Friday `at 3 pm`. */
export function modifyAtom(atom: TimeAtom, text: string): TimeAtom {
  const [before, after] = [sliceBefore(text, atom.start), sliceAfter(text, atom.end)];
  for (const [expression, take, ofDays = false] of MODIFIERS) {
    const match = expression.exec(before);
    if (match === null || atom.range.to - atom.range.from <= 7 * DAY !== ofDays) continue;
    return { ...atom, start: atom.start - match[0].length, range: take(atom.range, match), weak: false };
  }
  if (atom.range.to - atom.range.from !== DAY) return atom;
  const [follows, precedes] = [
    PART_AFTER.exec(after) ?? HOURS_AFTER.exec(after) ?? CLOCK_AFTER.exec(after),
    PART_BEFORE.exec(before) ?? HOURS_BEFORE.exec(before) ?? CLOCK_BEFORE.exec(before),
  ];
  const groups = (follows ?? precedes)?.groups;
  if (groups === undefined) return atom;
  const hours = groups.part === undefined ? readClock(groups) : PARTS_OF_DAY[groups.part.toLowerCase()];
  if (hours === undefined || hours === null) return atom;
  const [start, end] = follows
    ? [atom.start, atom.end + follows[0].length]
    : [atom.start - (precedes as RegExpExecArray)[0].length, atom.end];
  return { start, end, range: takeHours(atom.range, hours) };
}
