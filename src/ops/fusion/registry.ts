import type { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { OptionsRegistry } from '../../core/validation/registry.ts';
import { parse, suggestKnown } from '../../core/validation/validation.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import { borda, weightedBorda } from './borda.ts';
import {
  combAnzFusion,
  combGmnzFusion,
  combMaxFusion,
  combMedFusion,
  combMinFusion,
  combMnzFusion,
  combSumFusion,
} from './combination.ts';
import { convex } from './convex-combination.ts';
import { inverseSquareRank, logInverseSquareRank, lognInverseSquareRank } from './inverse-square-rank.ts';
import { rankBiasedCentroid } from './rank-biased-centroid.ts';
import { reciprocalRank } from './reciprocal-rank.ts';
import { alignLists, type Fuse, type NamedLists, rankFused, type ScoreColumns } from './score-columns.ts';
import { weighted, weightedMnz, weightedSum } from './weighted-combination.ts';

/** Every fusion: to add one takes its file and a line here. */
export const FUSIONS = new OptionsRegistry('method', [
  reciprocalRank,
  combSumFusion,
  combMnzFusion,
  combMaxFusion,
  combMinFusion,
  combMedFusion,
  combAnzFusion,
  combGmnzFusion,
  weightedSum,
  weightedMnz,
  inverseSquareRank,
  logInverseSquareRank,
  lognInverseSquareRank,
  rankBiasedCentroid,
  borda,
  weightedBorda,
  convex,
  weighted,
]);

/** How a config chooses a fusion: `method` and that method's options, defaults filled in. */
export const fusionOptions = FUSIONS.options;
/** The options of one fusion, chosen by `method`, with every default written out. */
export type FusionOptions = z.output<typeof fusionOptions>;
/** A way to make one score of several. */
export type FusionMethod = FusionOptions['method'];

/** The methods that ranx names otherwise, by its names. */
const RANX_METHODS: Readonly<Record<string, FusionMethod>> = {
  sum: 'combsum',
  mnz: 'combmnz',
  max: 'combmax',
  min: 'combmin',
  med: 'combmed',
  anz: 'combanz',
  gmnz: 'combgmnz',
};

/** The method that a name of ranx stands for; every other name as it is. */
export function translateFusionMethod(name: string): string {
  return Object.hasOwn(RANX_METHODS, name) ? (RANX_METHODS[name] as string) : name;
}

/**
 * Options of a fusion from a name alone or from a plain object, defaults filled in. Names of ranx are accepted.
 *
 * @throws ConfigurationError for an unknown method and for wrong options of the method, naming `source`.
 */
export function parseFusion(written: string | Readonly<Record<string, unknown>>, source: string): FusionOptions {
  const { method, ...rest } = typeof written === 'string' ? { method: written } : written;
  return parse(
    fusionOptions,
    { ...rest, method: typeof method === 'string' ? translateFusionMethod(method) : method },
    source,
  );
}

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
