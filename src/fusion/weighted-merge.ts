import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { sumsToOne } from '../core/validation.ts';
import { addPresent, assertColumns, assertWeights, type ScoreColumns } from './score-columns.ts';

/** Weights of documents, then of memory. */
export const MERGE_PRESETS = {
  balanced: [0.5, 0.5],
  'rag-focused': [0.7, 0.3],
  'memory-focused': [0.4, 0.6],
} as const satisfies Record<string, readonly number[]>;

/** How far the sum of the weights may be from 1. */
const SUM_TOLERANCE = 0.01;

function isWhole(weights: readonly number[]): boolean {
  return sumsToOne(weights, SUM_TOLERANCE);
}

const presetNames = Object.keys(MERGE_PRESETS) as [keyof typeof MERGE_PRESETS];

export const weightedMergeOptions = z.strictObject({
  method: z.literal('weighted'),
  /** A preset for documents and memory, or one weight a source, with sum 1. */
  weights: z
    .union([
      z.enum(presetNames),
      z.array(z.number().nonnegative()).min(1).refine(isWhole, `weights that sum to 1 within ${SUM_TOLERANCE}`),
    ])
    .default('memory-focused'),
});

/**
 * Weighted merge: each source's score times the source's weight; a candidate that several sources returned has the sum. Scores are taken as they are, so
 * the sources must score on one scale. O(S C).
 *
 * @param columns documents, then memory, where a preset is used.
 * @returns [C] fused scores.
 * @throws ValidationError for a wrong number of weights or a sum other than 1; DimensionMismatchError, NotFiniteError.
 */
export function weightedMerge(
  columns: ScoreColumns,
  { weights: choice }: z.output<typeof weightedMergeOptions>,
): Float64Array {
  assertColumns(columns);
  const weights = typeof choice === 'string' ? MERGE_PRESETS[choice] : choice;
  assertWeights(weights, columns.length);
  if (!isWhole(weights))
    throw new ValidationError(`weights of a merge must sum to 1 within ${SUM_TOLERANCE}: ${weights.join(', ')}`, {
      weights,
    });
  const fused = new Float64Array(columns[0]?.length ?? 0);
  for (const [source, column] of columns.entries())
    addPresent(fused, column, (score) => score * (weights[source] as number));
  return fused;
}
