/** Candidates, fusion and rerank scores composed into what one arm of an ablation is. */

export { blend, byRowMaximum } from './blend.ts';
export { type CandidatePool, poolOf } from './candidate-pool.ts';
export { type Ranking, rank } from './rank.ts';
export { type Column, fuseSignals, semanticWeight } from './relevance.ts';
export { type Retrieved, retrieve } from './retriever.ts';
export {
  type AttentionOptions,
  assertRetriever,
  type RelevanceSignal,
  type RetrieverOptions,
  retrieverOptions,
  type SelectionOptions,
  TRAJECTORY_DEFAULTS,
  type TrajectoryOptions,
} from './retriever-options.ts';
export { selectTop } from './select-top.ts';
export { Workspace, type WorkspaceInputs } from './workspace.ts';
