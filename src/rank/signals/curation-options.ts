import { z } from 'zod';
import { curationRuleOptions } from '../../model/text/curation-rules.ts';

/** How an arm curates the corpus; by rules. */
export const curationArmOptions = z.strictObject({
  /** Nearest earlier turns that each turn is compared with. */
  neighbours: z.int().min(1).max(10).default(10),
  /** What the relevance of a contradicted turn is multiplied by. */
  tombstone: z.number().min(0).max(1).default(0.3),
  rules: curationRuleOptions,
});
export type CurationArmOptions = z.output<typeof curationArmOptions>;
