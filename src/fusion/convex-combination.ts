import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import type { FusionDefinition } from './fusion-definition.ts';
import { addPresent, assertColumns, findScoreRange, type ScoreColumns } from './score-columns.ts';

/** `alpha` times the first score plus 1 - `alpha` times the second, each scaled to [0, 1] from its theoretical minimum. */
export const convexCombinationOptions = z.strictObject({
  method: z.literal('convex'),
  /** Weight of the first source, the dense one. */
  alpha: z.number().min(0).max(1).default(0.8),
  /** The least score that each of the two sources can give: -1 for cosine, 0 for BM25. */
  theoreticalMinimum: z.tuple([z.number(), z.number()]).default([-1, 0]),
});

/** The tolerance of float32 rounding below a theoretical minimum. */
const ROUNDING = 1e-6;

function assertMinimum(source: string, low: number, minimum: number): void {
  if (low < minimum - ROUNDING)
    throw new ValidationError(
      `score of source ${source} is below its theoretical minimum ${minimum}: ${low}; lower theoreticalMinimum`,
      {
        source,
        minimum,
        score: low,
      },
    );
}

/**
 * Convex combination with the theoretical minimum (TM2C2): alpha phi(dense) + (1 - alpha) phi(lexical),
 * phi(s) = (s - theoretical minimum) / (largest score of the list - theoretical minimum). An absent candidate has the theoretical minimum and adds 0, as
 * does a list that holds nothing above it. O(C).
 *
 * @param columns the dense source, then the lexical one.
 * @returns [C] fused scores in 0 to 1.
 * @throws ValidationError unless there are two sources, and for a score below its minimum; DimensionMismatchError, NotFiniteError.
 * Source: bruch2023fusion, whose alpha is 0.8.
 */
export function convexCombination(
  columns: ScoreColumns,
  { alpha, theoreticalMinimum }: z.output<typeof convexCombinationOptions>,
): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const sources = Object.entries(columns);
  if (sources.length !== 2) throw new ValidationError(`convex combination has ${sources.length} sources; pass 2`);
  for (const [itemIndex, [source, column]] of sources.entries()) {
    const minimum = theoreticalMinimum[itemIndex] as number;
    const { low, high } = findScoreRange(column);
    assertMinimum(source, low, minimum);
    const weight = itemIndex === 0 ? alpha : 1 - alpha;
    if (high > minimum)
      addPresent(fused, column, (score) => (weight * (Math.max(score, minimum) - minimum)) / (high - minimum));
  }
  return fused;
}

export const convex: FusionDefinition<typeof convexCombinationOptions> = {
  options: convexCombinationOptions,
  fusesPool: true,
  description:
    'alpha × dense + (1 − alpha) × lexical score, each scaled from its theoretical minimum to its largest (TM2C2)',
  fuse: convexCombination,
};
