/** A computation over several arms: one value per arm, in their order. @param baseline its index among the members; -1 if it is not a member. */
type OfFamily<A, T> = (members: readonly A[], baseline: number) => readonly T[];

/**
 * Computes values of the arms and of the null controls separately, so that a correction covers the comparisons of one family:
 * controls make no arm less certain. The baseline is in both families, and its value is that of the first.
 */
export function computeByFamily<A, T>(
  arms: readonly A[],
  isControl: (armIndex: number) => boolean,
  baseline: number,
  compute: OfFamily<A, T>,
): T[] {
  const values = new Map<number, T>();
  for (const family of [false, true]) {
    const members = arms.flatMap((_, armIndex) =>
      armIndex === baseline || isControl(armIndex) === family ? [armIndex] : [],
    );
    const computed = compute(
      members.map((armIndex) => arms[armIndex] as A),
      members.indexOf(baseline),
    );
    for (const [i, armIndex] of members.entries()) if (!values.has(armIndex)) values.set(armIndex, computed[i] as T);
  }
  return arms.map((_, armIndex) => values.get(armIndex) as T);
}
