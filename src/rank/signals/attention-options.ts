import { z } from 'zod';
import type { Corpus } from '../../model/turns/corpus.ts';
import { computeBandWidth } from '../../ops/attention/band.ts';
import type { LogitOptions } from '../../ops/attention/logit-terms.ts';
import { unifiedAttentionOptions } from '../../ops/attention/options.ts';

/** The tolerance of a row's denominator for the keys beyond the band, as a share of it. */
const FORWARD_TOLERANCE = 1e-5;

/** W for a tolerance; at most the turns of the longest conversation, since then no key is out of the band. */
export function computeForwardWidth(corpus: Corpus, options: LogitOptions, tolerance = FORWARD_TOLERANCE): number {
  const longest = corpus.conversations.reduce((most, { turns }) => Math.max(most, turns.length), 1);
  return Math.min(computeBandWidth(options, tolerance), longest);
}

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
