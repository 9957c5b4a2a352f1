import { ValidationError } from '../../core/errors/errors.ts';

/** Corrections for several comparisons at once; each takes p values and returns corrected ones in the same order. */

function assertProbabilities(ps: readonly number[]): void {
  for (const p of ps)
    if (!(p >= 0 && p <= 1)) throw new ValidationError(`p is not in 0 to 1: ${p}; pass probabilities`, { p });
}

/** Indexes of the p values, smallest first. */
function orderAscending(ps: readonly number[]): number[] {
  return ps.map((_, i) => i).sort((a, b) => (ps[a] as number) - (ps[b] as number));
}

/** m p, at most 1. Guards the chance of any false mark. */
export function bonferroni(ps: readonly number[]): number[] {
  assertProbabilities(ps);
  return ps.map((p) => Math.min(1, p * ps.length));
}

/** The i-th smallest p times (m - i + 1), never below its predecessor. Guards the same as Bonferroni and finds more. Source: holm1979. */
export function holm(ps: readonly number[]): number[] {
  assertProbabilities(ps);
  const corrected = new Array<number>(ps.length).fill(1);
  let largest = 0;
  for (const [rank, index] of orderAscending(ps).entries()) {
    largest = Math.max(largest, (ps[index] as number) * (ps.length - rank));
    corrected[index] = Math.min(1, largest);
  }
  return corrected;
}

/** The i-th smallest p times m / i, never above its successor. Guards the share of false marks among the marks. Source: benjamini1995fdr. */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  assertProbabilities(ps);
  const corrected = new Array<number>(ps.length).fill(1);
  const order = orderAscending(ps);
  let smallest = 1;
  for (let rank = order.length; rank >= 1; rank--) {
    const index = order[rank - 1] as number;
    smallest = Math.min(smallest, (ps[index] as number) * (ps.length / rank));
    corrected[index] = smallest;
  }
  return corrected;
}
