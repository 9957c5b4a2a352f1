import { z } from 'zod';
import { freezeDeeply } from '../../core/values/frozen.ts';
import { DEFAULT_LAMBDA, duplicateAbove, selectedCount } from './selection-definition.ts';

/** What a candidate needs to be taken beside those that were taken before it. */
export interface DiversityFilterOptions {
  /** Weight of the score in the marginal relevance, in [0, 1]. */
  readonly lambda: number;
  /** A candidate is taken when its marginal relevance is above this, */
  readonly marginalAbove: number;
  /** or its score above this. */
  readonly scoreAbove: number;
  /** K, the most to take. */
  readonly k: number;
}

/** A candidate is taken with a marginal relevance above .3 or a score above .9. */
export const DIVERSITY_FILTER_DEFAULTS: Omit<DiversityFilterOptions, 'k'> = freezeDeeply({
  lambda: DEFAULT_LAMBDA,
  marginalAbove: 0.3,
  scoreAbove: 0.9,
});

const options = z.strictObject({
  method: z.literal('diversity-filter'),
  k: selectedCount,
  duplicateAbove,
  lambda: z.number().min(0).max(1).default(DIVERSITY_FILTER_DEFAULTS.lambda),
  /** Either is enough to be taken. */
  marginalAbove: z.number().default(DIVERSITY_FILTER_DEFAULTS.marginalAbove),
  scoreAbove: z.number().default(DIVERSITY_FILTER_DEFAULTS.scoreAbove),
});

export const diversity = {
  options,
  description: 'from the best score down, the first candidate and each that is either new enough or good enough',
};
