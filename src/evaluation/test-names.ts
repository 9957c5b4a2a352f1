import { freezeDeeply } from '../core/frozen.ts';
import { benjaminiHochberg, holm } from './multiple-comparisons.ts';

/** The paired tests by name; all clustered, all two-sided. */
export const TESTS = freezeDeeply(['permutation', 't', 'wilcoxon'] as const);
/** A paired test of a difference between two systems. */
export type TestName = (typeof TESTS)[number];

/** What is done about testing several systems at once. */
export const CORRECTIONS = freezeDeeply({
  holm,
  'benjamini-hochberg': benjaminiHochberg,
  none: (ps: readonly number[]) => [...ps],
} as const);
/** A correction of p for the number of comparisons. */
export type CorrectionName = keyof typeof CORRECTIONS;
