import type { Comparison } from '../../measure/result.ts';
import { MARKS } from './legend.ts';
import { buildLadderComparison, type LadderComparison } from './table.ts';

/** A difference in one cell: `+.034 [+.02, +.05], p .004 ▲`, without brackets if there is no interval. @param mark of the verdict */
export function formatDifference({ difference, interval, p }: LadderComparison, mark: string): string {
  return [`${[difference, interval].filter(Boolean).join(' ')},`, `p ${p}`, mark].filter(Boolean).join(' ');
}

/** As {@link formatDifference}. @param level of the interval; a corrected p below 1 - level decides */
export function formatComparison(comparison: Comparison, level: number): string {
  return formatDifference(buildLadderComparison(comparison, 1 - level), MARKS[comparison.verdict]);
}
