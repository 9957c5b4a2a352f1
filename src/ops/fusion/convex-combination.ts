import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import {
  assertColumns,
  assertWeights,
  type FusionDefinition,
  findScoreRange,
  type ScoreColumns,
  type SourceWeights,
} from './score-columns.ts';

/** The share of the dense source where none is given. Source: bruch2023fusion. */
const DEFAULT_ALPHA = 0.8;

/** By the names of the signals; every other list begins at 0. */
const KNOWN_MINIMA: Readonly<Record<string, number>> = { cosine: -1 };

/**
 * Two sources by `alpha`, or any number of sources by `weights`; each score is scaled to [0, 1] from its theoretical minimum.
 */
export const convexCombinationOptions = z
  .strictObject({
    method: z.literal('convex'),
    /** Weight of the first of two sources, the dense one; has no effect where there are `weights`. */
    alpha: z.number().min(0).max(1).default(DEFAULT_ALPHA),
    /**
     * The least score that each source can give: of two sources in their order, or by the names of `weights`, where a missing one is -1 for `cosine` and 0
     * for every other name.
     */
    theoreticalMinimum: z.union([z.tuple([z.number(), z.number()]), z.record(z.string(), z.number())]).default([-1, 0]),
    /** The weight of every source by its name; absent in a resolved config that has none, so that its hash stays. */
    weights: z.record(z.string(), z.number().nonnegative()).optional(),
  })
  .superRefine(({ alpha, theoreticalMinimum, weights }, context) => {
    const addFault = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (weights === undefined) {
      if (!Array.isArray(theoreticalMinimum))
        addFault(['theoreticalMinimum'], 'a list of 2 numbers, since minima by name go with weights');
      return;
    }
    if (alpha !== DEFAULT_ALPHA) addFault(['alpha'], `no alpha beside weights, or ${DEFAULT_ALPHA}`);
    if (Array.isArray(theoreticalMinimum)) {
      if (theoreticalMinimum.join() !== '-1,0')
        addFault(['theoreticalMinimum'], 'a mapping from name to minimum, as weights is one');
    } else
      for (const name of Object.keys(theoreticalMinimum))
        if (!Object.hasOwn(weights, name))
          addFault(['theoreticalMinimum', name], `a name of weights (${Object.keys(weights).join(', ')})`);
    if (!Object.values(weights).some((weight) => weight > 0)) addFault(['weights'], 'at least one weight above 0');
  });

type ConvexOptions = z.output<typeof convexCombinationOptions>;

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

/** What the combination needs of one source. */
interface SourceScale {
  readonly weight: number;
  readonly minimum: number;
}

function scaleByOrder(columns: ScoreColumns, alpha: number, minima: readonly [number, number]): SourceScale[] {
  const count = Object.keys(columns).length;
  if (count !== 2)
    throw new ValidationError(`convex combination has ${count} sources; pass 2, or give weights by name`, { count });
  return [
    { weight: alpha, minimum: minima[0] },
    { weight: 1 - alpha, minimum: minima[1] },
  ];
}

function scaleByName(
  columns: ScoreColumns,
  weights: SourceWeights,
  minima: Readonly<Record<string, number>>,
): SourceScale[] {
  assertWeights(weights, columns);
  return Object.keys(columns).map((source) => {
    const weight = weights[source];
    if (weight === undefined)
      throw new ValidationError(`convex combination has no weight for source: ${source}; add its weight`, { source });
    return { weight, minimum: minima[source] ?? KNOWN_MINIMA[source] ?? 0 };
  });
}

function scaleSources(columns: ScoreColumns, { alpha, theoreticalMinimum, weights }: ConvexOptions): SourceScale[] {
  const byName = !Array.isArray(theoreticalMinimum);
  if (weights !== undefined) return scaleByName(columns, weights, byName ? theoreticalMinimum : {});
  if (byName) throw new ValidationError('convex combination has minima by name and no weights; give weights by name');
  return scaleByOrder(columns, alpha, theoreticalMinimum);
}

/**
 * Convex combination with the theoretical minimum (TM2C2): the sum over the sources of weight x phi, with
 * phi(s) = (s - theoretical minimum) / (largest score of the list - theoretical minimum). Two sources may give `alpha`, which is the weight of the first;
 * 1 - alpha is that of the second. An absent candidate has the theoretical minimum and adds 0, as does a list that holds nothing above it. O(S C).
 *
 * @param columns in any order with `weights`; else the dense source, then the lexical one.
 * @returns [C] fused scores in 0 to the sum of the weights.
 * @throws ValidationError for a score below its minimum, for a source without a weight or a weight without a source, and, without `weights`, unless there are
 * two sources; DimensionMismatchError, NotFiniteError. Source: bruch2023fusion, whose alpha is 0.8.
 */
export function convexCombination(columns: ScoreColumns, options: ConvexOptions): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const scales = scaleSources(columns, options);
  for (const [i, [source, column]] of Object.entries(columns).entries()) {
    const { weight, minimum } = scales[i] as SourceScale;
    const { low, high } = findScoreRange(column);
    assertMinimum(source, low, minimum);
    if (high <= minimum) continue;
    for (let c = 0; c < column.length; c++) {
      const score = column[c] as number;
      if (!Number.isNaN(score)) fused[c]! += (weight * (Math.max(score, minimum) - minimum)) / (high - minimum);
    }
  }
  return fused;
}

export const convex: FusionDefinition<typeof convexCombinationOptions> = {
  options: convexCombinationOptions,
  fusesPool: true,
  description:
    'alpha × dense + (1 − alpha) × lexical score, or weight × score by name, each scaled from its theoretical minimum to its largest (TM2C2)',
  fuse: convexCombination,
};
