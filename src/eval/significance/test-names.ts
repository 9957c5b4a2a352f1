import { freezeDeeply } from '../../core/values/frozen.ts';
import { benjaminiHochberg, holm } from './multiple-comparisons.ts';

/** The paired tests by name; all clustered, all two-sided. */
export const TESTS = freezeDeeply(['permutation', 't', 'wilcoxon'] as const);
/** The name of a paired test, one of {@link TESTS}. */
export type TestName = (typeof TESTS)[number];

/** What is done about testing several systems at once. */
export const CORRECTIONS = freezeDeeply({
  holm,
  'benjamini-hochberg': benjaminiHochberg,
  none: (ps: readonly number[]) => [...ps],
} as const);
/**
 * The name of a correction for multiple comparisons: `holm` for the family-wise error rate, `benjamini-hochberg` for the false discovery rate, or
 * `none`.
 */
export type CorrectionName = keyof typeof CORRECTIONS;
