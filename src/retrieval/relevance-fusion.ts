import { z } from 'zod';
import type { IndexOptions } from '../candidates/registry.ts';
import { combSumOptions } from '../fusion/combination.ts';
import { reciprocalRankOptions } from '../fusion/reciprocal-rank.ts';
import { type FusionOptions, fusionOptions } from '../fusion/registry.ts';

export const SIGNALS = ['bm25', 'cosine', 'recency'] as const;
export type RelevanceSignal = (typeof SIGNALS)[number];

/** The indexes that rank by a signal: what they find is the signal's own list. */
export const LIST_SOURCES: Readonly<Record<RelevanceSignal, readonly IndexOptions['index'][]>> = {
  bm25: ['bm25'],
  cosine: ['hnsw', 'flat'],
  recency: ['newest'],
};

/**
 * How several signals become one. `rrf`, `combsum` and `combmnz` fuse the lists that the signals' sources found, as {@link fuseLists} does with run files: a
 * candidate gets nothing from a list that lacks it. All others, and the two that begin with `pool`, fuse scores of the whole pool: every signal scores and ranks
 * each candidate, whichever source found it.
 */
export const relevanceFusionOptions = z.discriminatedUnion('method', [
  ...fusionOptions.options,
  reciprocalRankOptions.extend({ method: z.literal('pool-rrf') }),
  combSumOptions.extend({ method: z.literal('pool-combsum') }),
]);
type RelevanceFusionOptions = z.output<typeof relevanceFusionOptions>;

const LIST_METHODS: readonly string[] = ['rrf', 'combsum', 'combmnz'] satisfies FusionOptions['method'][];

/** Whether the signals' own lists are fused, and not scores of the whole pool. */
export function fusesLists({ method }: RelevanceFusionOptions): boolean {
  return LIST_METHODS.includes(method);
}

/** The fusion that is computed, whatever it is given. */
export function resolveFusion(options: RelevanceFusionOptions): FusionOptions {
  switch (options.method) {
    case 'pool-rrf':
      return { ...options, method: 'rrf' };
    case 'pool-combsum':
      return { ...options, method: 'combsum' };
    default:
      return options;
  }
}
