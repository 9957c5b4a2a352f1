/** Scores of several sources made one: combinations of scores, of ranks, convex combination, weighted merge. */

export { combMnz, combSum } from './combination.ts';
export { convexCombination, convexCombinationOptions } from './convex-combination.ts';
export { NORMALISATIONS, type Normalisation, type NormalisationName } from './normalisation.ts';
export { reciprocalRankFusion, reciprocalRankOptions } from './reciprocal-rank.ts';
export {
  FUSIONS,
  type FusionMethod,
  type FusionOptions,
  fuseColumns,
  fuseLists,
  fusionOptions,
  parseFusion,
} from './registry.ts';
export {
  type AlignedLists,
  alignLists,
  type NamedLists,
  rankFused,
  type ScoreColumns,
  type SourceWeights,
} from './score-columns.ts';
export { MERGE_PRESETS, weightedMerge, weightedMergeOptions } from './weighted-merge.ts';
