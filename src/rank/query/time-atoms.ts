import { findYears } from '../../model/text/named-periods.ts';
import { NAMED_TIMES } from './named-times.ts';
import { RELATIVE_TIMES } from './relative-times.ts';
import type { TimeAtom, TimeContext } from './time-rule.ts';

const BEFORE = 24;
const RULES = [...RELATIVE_TIMES, ...NAMED_TIMES].map(
  ([source, read]) => [new RegExp(`\\b(?:${source})\\b`, 'gi'), read] as const,
);

/** Every time that a rule reads in a text with single spaces; they may overlap. */
export function findTimeAtoms(text: string, context: TimeContext): TimeAtom[] {
  const found = RULES.flatMap(([expression, read]) =>
    [...text.matchAll(expression)].flatMap((match): TimeAtom[] => {
      const before = text.slice(Math.max(0, match.index - BEFORE), match.index);
      const reading = read(match.groups ?? {}, context, before);
      return reading === null ? [] : [{ start: match.index, end: match.index + match[0].length, ...reading }];
    }),
  );
  return [...found, ...findYears(text)];
}
