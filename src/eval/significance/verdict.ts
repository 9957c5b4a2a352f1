import type { Direction } from '../metrics/judged-ranking.ts';

/** The decision on a difference. */
export type Verdict = 'better' | 'worse' | 'undecided';

/**
 * True if a corrected p is below the bound of a confidence. A p equal to the bound is not below it, for any rounding of
 * 1 - level.
 */
export function isSignificant(correctedP: number, level: number): boolean {
  return correctedP < 1 - level - 1e-12;
}

/**
 * What a corrected p decides of a difference: the source of every mark. @param test `unresolved` where the bound is
 * within the Monte Carlo error of the p. @param better of the metric.
 */
export function chooseVerdict(
  difference: number,
  { correctedP, unresolved = false }: { readonly correctedP: number; readonly unresolved?: boolean },
  level: number,
  better: Direction = 'higher',
): Verdict {
  if (unresolved || !isSignificant(correctedP, level)) return 'undecided';
  return difference > 0 === (better === 'higher') ? 'better' : 'worse';
}
