/** Grades of a reply's judgements. */
export const PARENT = 3;
export const ANCESTOR = 2;
export const SAME_THREAD = 1;

/** The names of the grades. */
export const GRADE_NAMES: Readonly<Record<number, string>> = {
  [PARENT]: 'parent',
  [ANCESTOR]: 'ancestor',
  [SAME_THREAD]: 'same thread',
};
