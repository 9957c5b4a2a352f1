import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { cohenKappa } from '../../eval/agreement/cohen-kappa.ts';
import { GRADES } from '../../model/dataset.ts';
import type { Qrels } from '../../model/run.ts';

/**
 * Weighted kappa of two judges: 1 - sum w_ij O_ij / sum w_ij E_ij, O_ij the items with grade i by the first and j by
 * the second judge, E_ij what independent judges with the same use of grades would have, w_ij the disagreement. Cost:
 * items + grades^2. Source: cohen1968weighted.
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
 * @throws DimensionMismatchError for different numbers of items; ValidationError where kappa is undefined: no item, or
 *   both judges use one and the same grade.
 */
export function linearWeightedKappa(a: readonly number[], b: readonly number[]): number {
  return computeWeightedKappa(a, b, (i, j) => Math.abs(i - j));
}

/**
 * Kappa in which a disagreement weighs (i - j)^2, the usual one for relevance grades. Parameters and errors as
 * {@link linearWeightedKappa}.
 */
export function quadraticWeightedKappa(a: readonly number[], b: readonly number[]): number {
  return computeWeightedKappa(a, b, (i, j) => (i - j) ** 2);
}

/** The least kappa at which the grades of an automatic judge are used. */
export const KAPPA_GATE = 0.6;

/** How two judges grade the same pairs of query and document. */
export interface JudgeAgreement {
  /** Pairs that both judged. All figures are of these. */
  readonly pairs: number;
  /** Pairs that one of the judges alone judged. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** [grade of the first, grade of the second] numbers of pairs, grades 0 to 3. */
  readonly confusion: readonly (readonly number[])[];
  /** Share of pairs with equal grades; null without pairs, as are the means. */
  readonly observed: number | null;
  /** Mean grade of each judge: the higher one is more lenient. */
  readonly means: readonly [first: number, second: number] | null;
  /** Null where kappa is undefined: no pair, or both judges use one and the same grade. */
  readonly kappa: number | null;
  readonly linearKappa: number | null;
  readonly quadraticKappa: number | null;
}

/** Grades of the pairs that both judged, in one order. */
function matchGrades(first: Qrels, second: Qrels): readonly [number[], number[]] {
  const grades: [number[], number[]] = [[], []];
  for (const [queryId, judgements] of first)
    for (const [id, grade] of judgements) {
      const other = second.get(queryId)?.get(id);
      if (other === undefined) continue;
      assertGrades(queryId, id, [grade, other]);
      grades[0].push(grade);
      grades[1].push(other);
    }
  return grades;
}

function assertGrades(queryId: string, id: string, grades: readonly number[]): void {
  const wrong = grades.find((grade) => !(GRADES as readonly number[]).includes(grade));
  if (wrong === undefined) return;
  throw new ValidationError(
    `grade of document ${id} for query ${queryId} is not one of ${GRADES.join(', ')}: ${wrong}; correct the grade`,
    { queryId, id, grade: wrong },
  );
}

function countPairs(qrels: Qrels): number {
  return Array.from(qrels.values()).reduce((sum, { size }) => sum + size, 0);
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Compares two judges on the pairs that both judged. @throws ValidationError for a grade that is not one of 0 to 3. */
export function compareJudges(first: Qrels, second: Qrels): JudgeAgreement {
  const [a, b] = matchGrades(first, second);
  const confusion = GRADES.map((i) => GRADES.map((j) => a.filter((grade, at) => grade === i && b[at] === j).length));
  const isDefined = new Set([...a, ...b]).size > 1;
  return {
    pairs: a.length,
    onlyFirst: countPairs(first) - a.length,
    onlySecond: countPairs(second) - a.length,
    confusion,
    observed: a.length === 0 ? null : a.filter((grade, at) => grade === b[at]).length / a.length,
    means: a.length === 0 ? null : ([computeMean(a), computeMean(b)] as const),
    kappa: isDefined ? cohenKappa(a, b) : null,
    linearKappa: isDefined ? linearWeightedKappa(a, b) : null,
    quadraticKappa: isDefined ? quadraticWeightedKappa(a, b) : null,
  };
}

/** True if the judges agree enough: kappa is defined and reaches the gate. */
export function passesGate({ kappa }: JudgeAgreement, gate = KAPPA_GATE): boolean {
  return kappa !== null && kappa >= gate;
}
