import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { frozen } from '../core/frozen.ts';
import { nearestOf } from '../core/validation.ts';
import type { Scored } from '../model/tie-rule.ts';
import { combMnz, combMnzOptions, combSum, combSumOptions } from './combination.ts';
import { convexCombination, convexCombinationOptions } from './convex-combination.ts';
import { reciprocalRankFusion, reciprocalRankOptions } from './reciprocal-rank.ts';
import { alignLists, type NamedLists, rankFused, type ScoreColumns } from './score-columns.ts';
import { weightedMerge, weightedMergeOptions } from './weighted-merge.ts';

/** How a config chooses a fusion: `method` and that method's options, defaults filled in. */
export const fusionOptions = z.discriminatedUnion('method', [
  reciprocalRankOptions,
  combSumOptions,
  combMnzOptions,
  convexCombinationOptions,
  weightedMergeOptions,
]);
export type FusionOptions = z.output<typeof fusionOptions>;
export type FusionMethod = FusionOptions['method'];

type OptionsOf<M extends FusionMethod> = Extract<FusionOptions, { method: M }>;

interface FusionEntry<M extends FusionMethod> {
  /** One sentence for people. */
  readonly definition: string;
  fuse(columns: ScoreColumns, options: OptionsOf<M>): Float64Array;
}

/** Every fusion by its name in a config. */
export const FUSIONS: { readonly [M in FusionMethod]: FusionEntry<M> } = frozen({
  rrf: {
    definition: 'Reciprocal rank fusion: weight / (k + rank), summed over the sources.',
    fuse: reciprocalRankFusion,
  },
  combsum: { definition: 'Min-max scores, summed over the sources.', fuse: combSum },
  combmnz: { definition: 'CombSUM times the number of sources that returned the candidate.', fuse: combMnz },
  convex: {
    definition:
      'alpha x dense + (1 - alpha) x lexical score, each scaled from its theoretical minimum to its largest (TM2C2).',
    fuse: convexCombination,
  },
  weighted: { definition: 'Score x weight of the source, summed over the sources.', fuse: weightedMerge },
});

/**
 * Fuses the scores of S sources for the C candidates of one query.
 *
 * @param columns [C] each, candidates in the order that {@link ScoreColumns} asks for.
 * @returns [C] fused scores.
 * @throws ValidationError for an unknown method and for what the method itself refuses; DimensionMismatchError, NotFiniteError.
 */
export function fuseColumns(columns: ScoreColumns, options: FusionOptions): Float64Array {
  if (!Object.hasOwn(FUSIONS, options.method)) {
    const known = Object.keys(FUSIONS);
    const hint = nearestOf(options.method, known) ?? known.join(', ');
    throw new ValidationError(`unknown fusion method, known is ${hint}: ${options.method}`, {
      method: options.method,
      known,
    });
  }
  const entry = FUSIONS[options.method] as FusionEntry<FusionMethod>;
  return entry.fuse(columns, options);
}

/**
 * Fuses the ranked lists of S sources for one query. A candidate that a list lacks gets nothing from it.
 *
 * @param lists by name; weights go by these names.
 * @returns every candidate of any list, best first by the tie rule.
 * @throws as {@link fuseColumns} does, and for a list that repeats a candidate or holds a score that is not finite.
 */
export function fuseLists(lists: NamedLists, options: FusionOptions): Scored[] {
  const { ids, columns } = alignLists(lists);
  return rankFused(ids, fuseColumns(columns, options));
}
