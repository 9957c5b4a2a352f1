/** Scores of several sources made one: reciprocal rank, CombSUM and CombMNZ, convex combination, weighted merge. */

export { combMnz, combSum } from './combination.ts';
export { convexCombination, convexCombinationOptions } from './convex-combination.ts';
export { reciprocalRankFusion, reciprocalRankOptions } from './reciprocal-rank.ts';
export {
  FUSIONS,
  type FusionMethod,
  type FusionOptions,
  fuseColumns,
  fuseLists,
  fusionOptions,
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
