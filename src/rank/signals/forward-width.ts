import type { Corpus } from '../../model/turns/corpus.ts';
import type { LogitOptions } from '../../ops/attention/attention-logits.ts';
import { computeBandWidth } from '../../ops/attention/band.ts';

/** The tolerance of a row's denominator for the keys beyond the band, as a share of it. */
export const FORWARD_TOLERANCE = 1e-5;

/** W for a tolerance; at most the turns of the longest conversation, since then no key is out of the band. */
export function computeForwardWidth(corpus: Corpus, options: LogitOptions, tolerance = FORWARD_TOLERANCE): number {
  const longest = corpus.conversations.reduce((most, { turns }) => Math.max(most, turns.length), 1);
  return Math.min(computeBandWidth(options, tolerance), longest);
}
