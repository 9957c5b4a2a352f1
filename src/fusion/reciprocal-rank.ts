import { z } from 'zod';
import { assertColumns, assertWeights, type ScoreColumns } from './score-columns.ts';

export const reciprocalRankOptions = z.strictObject({
  method: z.literal('rrf'),
  /** Flattens the difference between the first ranks. */
  k: z.number().positive().default(60),
  /** One a source; all 1 when absent. */
  weights: z.array(z.number().nonnegative()).min(1).optional(),
});

/** Places of the present scores, best first; of equal scores the earlier place, by the order of {@link ScoreColumns}. */
function ranked(column: Float64Array): Int32Array {
  const present = Int32Array.from(column.keys()).filter((c) => !Number.isNaN(column[c]));
  return present.sort((a, b) => (column[b] as number) - (column[a] as number) || a - b);
}

/**
 * Reciprocal rank fusion: sum over the sources of weight / (k + rank), ranks from 1; an absent candidate adds 0. O(S C log C).
 *
 * @returns [C] fused scores.
 * @throws ValidationError for a wrong number of weights; DimensionMismatchError, NotFiniteError. Source: cormack2009rrf.
 */
export function reciprocalRankFusion(
  columns: ScoreColumns,
  { k, weights = columns.map(() => 1) }: z.output<typeof reciprocalRankOptions>,
): Float64Array {
  assertColumns(columns);
  assertWeights(weights, columns.length);
  const fused = new Float64Array(columns[0]?.length ?? 0);
  for (const [source, column] of columns.entries())
    for (const [place, c] of ranked(column).entries())
      fused[c] = (fused[c] as number) + (weights[source] as number) / (k + place + 1);
  return fused;
}
