import { z } from 'zod';
import { DEFAULT_LAMBDA, duplicateAbove, selectedCount } from './selection-definition.ts';

const options = z.strictObject({
  method: z.literal('mmr'),
  k: selectedCount,
  duplicateAbove,
  /** Weight of relevance against novelty. */
  lambda: z.number().min(0).max(1).default(DEFAULT_LAMBDA),
});

export const mmr = {
  options,
  description: 'maximal marginal relevance: one after the other, what is relevant and unlike those taken before',
};
