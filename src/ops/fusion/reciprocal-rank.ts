import { z } from 'zod';
import {
  assertColumns,
  assertWeights,
  type FusionDefinition,
  rankPresent,
  type ScoreColumns,
  sourceWeights,
} from './score-columns.ts';

/** Reciprocal rank fusion: the constant k, and the weight of each list. */
export const reciprocalRankOptions = z.strictObject({
  method: z.literal('rrf'),
  /** Flattens the difference between the first ranks. */
  k: z.number().positive().default(60),
  /** By source; 1 for a missing source. */
  weights: sourceWeights,
});

/**
 * Reciprocal rank fusion: sum over the sources of weight / (k + rank), ranks from 1; an absent candidate adds 0. O(S C log C).
 *
 * @returns [C] fused scores.
 * @throws ValidationError for a weight of an unknown source; DimensionMismatchError, NotFiniteError. Source: cormack2009rrf.
 */
export function reciprocalRankFusion(
  columns: ScoreColumns,
  { k, weights }: Omit<z.output<typeof reciprocalRankOptions>, 'method'>,
): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  assertWeights(weights, columns);
  for (const [source, column] of Object.entries(columns)) {
    const weight = weights[source] ?? 1;
    let above = 0;
    for (const c of rankPresent(column)) fused[c] = (fused[c] as number) + weight / (k + above++ + 1);
  }
  return fused;
}

export const reciprocalRank: FusionDefinition<typeof reciprocalRankOptions> = {
  options: reciprocalRankOptions,
  description: 'reciprocal rank fusion: weight / (k + rank), summed over the sources',
  fuse: reciprocalRankFusion,
};
