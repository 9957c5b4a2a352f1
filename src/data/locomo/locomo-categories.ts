import { freezeDeeply } from '../../core/values/frozen.ts';

/** The kinds of question by LoCoMo's numbers, of which 1 is the first. */
export const LOCOMO_CATEGORIES = freezeDeeply([
  'multi-hop',
  'temporal',
  'open-domain',
  'single-hop',
  'adversarial',
] as const);
/** A kind of question of LoCoMo. */
export type LocomoCategory = (typeof LOCOMO_CATEGORIES)[number];

/** Categories that the conversation answers: an adversarial question is about a fact that was never stated. */
export const ANSWERABLE_CATEGORIES: readonly LocomoCategory[] = LOCOMO_CATEGORIES.slice(0, 4);
