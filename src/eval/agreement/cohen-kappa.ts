import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';

function countLabels<T>(labels: readonly T[]): Map<T, number> {
  const table = new Map<T, number>();
  for (const label of labels) table.set(label, (table.get(label) ?? 0) + 1);
  return table;
}

/**
 * Cohen's kappa of two judges: (observed - expected agreement) / (1 - expected agreement), the expected one from how often each judge uses each label.
 *
 * @param a labels of the first judge, an item each.
 * @param b labels of the second judge for the same items.
 * @throws ValidationError where kappa is undefined: no item, or both judges use one and the same label. Source: cohen1960kappa.
 */
export function cohenKappa<T extends string | number>(a: readonly T[], b: readonly T[]): number {
  if (a.length !== b.length) throw new DimensionMismatchError('labels of two judges', a.length, b.length);
  const ofB = countLabels(b);
  const observed = a.filter((label, i) => label === b[i]).length / a.length;
  let expected = 0;
  for (const [label, count] of countLabels(a)) expected += (count / a.length) * ((ofB.get(label) ?? 0) / a.length);
  if (a.length === 0 || expected === 1)
    throw new ValidationError(
      `the judges of kappa use ${new Set([...a, ...b]).size} different labels; pass labels with at least 2`,
    );
  return (observed - expected) / (1 - expected);
}
