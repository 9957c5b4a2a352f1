/** Candidates, fusion, signals and selection composed into what one arm of an ablation is. */

export { blendScores, divideScoresByRowMaximum } from './blend.ts';
export { candidatesFrom, findPool, poolRows } from './candidate-sources.ts';
export { type Ranking, rank } from './rank.ts';
export { computeSemanticWeight } from './relevance.ts';
export { type Retrieved, retrieve, warmUp } from './retriever.ts';
export { selectTop } from './select-top.ts';
export type { SourceUse } from './source-parts.ts';
export {
  type AddedNames,
  blend,
  boost,
  curate,
  decay,
  filter,
  fuse,
  mix,
  type PlainStep,
  pack,
  propagate,
  rerank,
  type StepInput,
  score,
  search,
  select,
  slice,
} from './steps/functions.ts';
export { listArmStages, parseSteps, type RankOptions, type WrittenStep } from './written-steps.ts';
