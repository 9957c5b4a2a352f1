/** Candidates, fusion, signals and selection composed into what one arm of an ablation is. */

export { listArmStages } from './arm-signals.ts';
export { blend, divideScoresByRowMaximum } from './blend.ts';
export { candidatesFrom, candidatesOfArm, findPool, poolRows, warmUp } from './candidate-sources.ts';
export type { FilterOptions } from './filter-options.ts';
export { listControlsFor } from './null-controls.ts';
export { type Ranking, rank } from './rank.ts';
export { computeSemanticWeight, fuseSignals } from './relevance.ts';
export { type Retrieved, retrieve } from './retriever.ts';
export {
  assertRetriever,
  type RelevanceSignal,
  type RetrieverInput,
  type RetrieverOptions,
  retrieverOptions,
} from './retriever-options.ts';
export { selectTop } from './select-top.ts';
export type { SourceUse } from './source-parts.ts';
