import type { TimeMention } from './calendar.ts';
import { findChronoDates } from './chrono-dates.ts';
import type { TimeAtom, TimeContext, TimeRule } from './time-rule.ts';
import { findYears } from './time-words.ts';

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
 * A function that finds the times that a text names by rules, as years and decades, and as dates of chrono-node. Times that overlap are one, and they are in the
 * order of the text.
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
