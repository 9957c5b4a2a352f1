import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';

/**
 * Weighted kappa of two judges: 1 - sum w_ij O_ij / sum w_ij E_ij, O_ij the items with grade i by the first and j by the second judge, E_ij what independent
 * judges with the same use of grades would have, w_ij the disagreement. Cost: items + grades^2. Source: cohen1968weighted.
 */
function computeWeightedKappa(a: readonly number[], b: readonly number[], weigh: (i: number, j: number) => number) {
  if (a.length !== b.length) throw new DimensionMismatchError('grades of two judges', a.length, b.length);
  const observed = a.reduce((sum, grade, item) => sum + weigh(grade, b[item] as number), 0) / a.length;
  const [ofA, ofB] = [countShares(a), countShares(b)];
  let expected = 0;
  for (const [i, shareOfA] of ofA) for (const [j, shareOfB] of ofB) expected += weigh(i, j) * shareOfA * shareOfB;
  if (a.length === 0 || expected === 0)
    throw new ValidationError(
      `the judges of weighted kappa use ${new Set([...a, ...b]).size} different grades; pass grades with at least 2`,
    );
  return 1 - observed / expected;
}

function countShares(grades: readonly number[]): ReadonlyMap<number, number> {
  const shares = new Map<number, number>();
  for (const grade of grades) shares.set(grade, (shares.get(grade) ?? 0) + 1 / grades.length);
  return shares;
}

/**
 * Kappa in which a disagreement weighs |i - j|: grades 0 and 2 disagree twice as much as 0 and 1.
 *
 * @param a grades of the first judge, an item each.
 * @param b grades of the second judge for the same items.
 * @throws DimensionMismatchError for different numbers of items; ValidationError where kappa is undefined: no item, or both judges use one and the same grade.
 */
export function linearWeightedKappa(a: readonly number[], b: readonly number[]): number {
  return computeWeightedKappa(a, b, (i, j) => Math.abs(i - j));
}

/** Kappa in which a disagreement weighs (i - j)^2, the usual one for relevance grades. Parameters and errors as {@link linearWeightedKappa}. */
export function quadraticWeightedKappa(a: readonly number[], b: readonly number[]): number {
  return computeWeightedKappa(a, b, (i, j) => (i - j) ** 2);
}
