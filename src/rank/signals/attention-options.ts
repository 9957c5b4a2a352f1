import { z } from 'zod';
import { unifiedAttentionOptions } from '../../ops/attention/options.ts';

/** Ring attention between a query and its candidates. */
export const attentionOptions = unifiedAttentionOptions.extend({
  mechanism: z.enum(['rcp', 'ircp', 'tpo', 'unified']),
  /** Share of the attention score in the blend. */
  weight: z.number().min(0).max(1).default(0.2),
});
/**
 * Checked options of the attention stage: the mechanism (RCP, IRCP, TPO or the three together), those of ring attention, and the share of the attention
 * score in the blend, in [0, 1] (default 0.2).
 */
export type AttentionOptions = z.output<typeof attentionOptions>;
