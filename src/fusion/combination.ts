import { z } from 'zod';
import type { FusionDefinition } from './fusion-definition.ts';
import { addPresent, assertColumns, findScoreRange, type ScoreColumns } from './score-columns.ts';

export const combSumOptions = z.strictObject({ method: z.literal('combsum') });
const combMnzOptions = z.strictObject({ method: z.literal('combmnz') });

/**
 * CombSUM: sum over the sources of the min-max score (s - min) / (max - min), the extremes being those of the source's list for this query. A list with
 * one distinct score normalises to 1; an absent candidate adds 0, as the last of a longer list does. O(S C).
 *
 * @returns [C] fused scores.
 * @throws ValidationError without a source, DimensionMismatchError, NotFiniteError. Source: fox1994combination.
 */
export function combSum(columns: ScoreColumns): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  for (const column of Object.values(columns)) {
    const { low, high } = findScoreRange(column);
    addPresent(fused, column, high === low ? () => 1 : (score) => (score - low) / (high - low));
  }
  return fused;
}

/**
 * CombMNZ: CombSUM times the number of sources that returned the candidate. O(S C).
 *
 * @returns [C] fused scores.
 * @throws as {@link combSum} does. Source: fox1994combination.
 */
export function combMnz(columns: ScoreColumns): Float64Array {
  const sums = combSum(columns);
  const sources = new Float64Array(sums.length);
  for (const column of Object.values(columns)) addPresent(sources, column, () => 1);
  return sums.map((sum, c) => sum * (sources[c] as number));
}

export const combSumFusion: FusionDefinition<typeof combSumOptions> = {
  options: combSumOptions,
  description: 'min-max scores, summed over the sources',
  fuse: combSum,
};

export const combMnzFusion: FusionDefinition<typeof combMnzOptions> = {
  options: combMnzOptions,
  description: 'CombSUM times the number of sources that returned the candidate',
  fuse: combMnz,
};
