import type { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { OptionsRegistry } from '../core/registry.ts';
import { suggestKnown } from '../core/validation.ts';
import type { Scored } from '../model/tie-rule.ts';
import { combMnzFusion, combSumFusion } from './combination.ts';
import { convex } from './convex-combination.ts';
import type { Fuse } from './fusion-definition.ts';
import { reciprocalRank } from './reciprocal-rank.ts';
import { alignLists, type NamedLists, rankFused, type ScoreColumns } from './score-columns.ts';
import { weighted } from './weighted-merge.ts';

/** Every fusion: to add one takes its file and a line here. */
export const FUSIONS = new OptionsRegistry('method', [reciprocalRank, combSumFusion, combMnzFusion, convex, weighted]);

/** How a config chooses a fusion: `method` and that method's options, defaults filled in. */
export const fusionOptions = FUSIONS.options;
export type FusionOptions = z.output<typeof fusionOptions>;
export type FusionMethod = FusionOptions['method'];

/**
 * Fuses the scores of S sources for the C candidates of one query.
 *
 * @param columns [C] each, candidates in the order that {@link ScoreColumns} asks for.
 * @returns [C] fused scores.
 * @throws ValidationError for an unknown method and for invalid inputs of the method; DimensionMismatchError, NotFiniteError.
 */
export function fuseColumns(columns: ScoreColumns, options: FusionOptions): Float64Array {
  const found = FUSIONS.find(options.method);
  if (found === undefined) {
    const known = FUSIONS.names;
    const { method } = options;
    throw new ValidationError(`unknown fusion method: ${method}; use ${suggestKnown(method, known)}`, {
      method,
      known,
    });
  }
  return (found.fuse as Fuse<FusionOptions>)(columns, options);
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
