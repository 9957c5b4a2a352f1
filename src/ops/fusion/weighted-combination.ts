import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { sumsToOne } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { combinationOptions, combineScores, sumScores } from './combination.ts';
import {
  addPresent,
  assertColumns,
  assertWeights,
  type FusionDefinition,
  readWeights,
  type ScoreColumns,
  type SourceWeights,
  sourceWeights,
} from './score-columns.ts';

/** Weights of documents, then of memory. */
export const MERGE_PRESETS = freezeDeeply({
  balanced: [0.5, 0.5],
  'rag-focused': [0.7, 0.3],
  'memory-focused': [0.4, 0.6],
} as const satisfies Record<string, readonly number[]>);

/** The tolerance of the sum of the weights against 1. */
const SUM_TOLERANCE = 0.01;

function isWhole(weights: SourceWeights): boolean {
  return sumsToOne(Object.values(weights), SUM_TOLERANCE);
}

const presetNames = Object.keys(MERGE_PRESETS) as [keyof typeof MERGE_PRESETS];

/** A weighted sum of scores: a named set of weights, or one weight for each source. */
export const weightedMergeOptions = z.strictObject({
  method: z.literal('weighted'),
  /** A preset for documents and memory, in this order, or the weight of each source by its name, with sum 1. */
  weights: z
    .union([
      z.enum(presetNames),
      z.record(z.string(), z.number().nonnegative()).refine(isWhole, `weights that sum to 1 within ${SUM_TOLERANCE}`),
    ])
    .default('memory-focused'),
});

/**
 * Weighted merge: each source's score times the source's weight; a candidate that several sources returned has the sum.
 * Scores are not scaled, so the sources must score on one scale. O(S C).
 *
 * @param columns documents, then memory, if a preset is used.
 * @returns [C] fused scores.
 * @throws ValidationError for weights of other sources or with a sum other than 1; DimensionMismatchError,
 *   NotFiniteError.
 */
export function weightedMerge(
  columns: ScoreColumns,
  { weights: choice }: z.output<typeof weightedMergeOptions>,
): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const weights = typeof choice === 'string' ? resolvePresetWeights(choice, columns) : choice;
  assertWeights(weights, columns);
  const missing = Object.keys(columns).find((source) => weights[source] === undefined);
  if (missing !== undefined) throw new ValidationError(`merge has no weight for source: ${missing}; add its weight`);
  if (!isWhole(weights))
    throw new ValidationError(
      `weights of a merge do not sum to 1 within ${SUM_TOLERANCE}: ${Object.values(weights).join(', ')}; change them`,
      { weights },
    );
  for (const [source, column] of Object.entries(columns))
    addPresent(fused, column, (score) => score * (weights[source] as number));
  return fused;
}

function resolvePresetWeights(preset: keyof typeof MERGE_PRESETS, columns: ScoreColumns): SourceWeights {
  const sources = Object.keys(columns);
  const [documents, memory] = MERGE_PRESETS[preset];
  if (sources.length !== 2)
    throw new ValidationError(
      `preset ${preset} of a merge is for 2 sources: ${sources.join(', ')}; give the weights by name`,
      { sources },
    );
  return { [sources[0] as string]: documents, [sources[1] as string]: memory };
}

export const weighted: FusionDefinition<typeof weightedMergeOptions> = {
  options: weightedMergeOptions,
  fusesPool: true,
  description: 'score × weight of the source, summed over the sources',
  fuse: weightedMerge,
};

const options = { ...combinationOptions, weights: sourceWeights };
const weightedSumOptions = z.strictObject({ method: z.literal('wsum'), ...options });
const weightedMnzOptions = z.strictObject({ method: z.literal('wmnz'), ...options });

/** Source: vogt1999fusion. */
export const weightedSum: FusionDefinition<typeof weightedSumOptions> = {
  options: weightedSumOptions,
  description: 'weight × normalised score, summed over the sources',
  fuse(columns: ScoreColumns, { normalisation, weights }) {
    const values = readWeights(weights, columns);
    return combineScores(columns, normalisation, (scores, sources) =>
      scores.reduce((total, score, i) => total + (values[sources[i] as number] as number) * score, 0),
    );
  },
};

/** Source: wu2002fusion. */
export const weightedMnz: FusionDefinition<typeof weightedMnzOptions> = {
  options: weightedMnzOptions,
  description: 'CombSUM times the weights of the sources that returned the candidate, summed',
  fuse(columns: ScoreColumns, { normalisation, weights }) {
    const values = readWeights(weights, columns);
    return combineScores(
      columns,
      normalisation,
      (scores, sources) => sumScores(scores) * sumScores(sources.map((source) => values[source] as number)),
    );
  },
};
