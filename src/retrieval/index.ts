/** Candidates, fusion and rerank scores composed into what one arm of an ablation is. */

export { blend, byRowMaximum } from './blend.ts';
export { type CandidatePool, type PoolRows, poolOf } from './candidate-pool.ts';
export { CONTROL_KINDS, type ControlKind, type ControlOptions, controlOptions } from './control-options.ts';
export { controlsFor } from './null-controls.ts';
export { permutedOrder } from './permuted-order.ts';
export { randomParents } from './random-parents.ts';
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
export { rewire, rewiredTrees } from './rewired-graph.ts';
export { type ScoringOptions, scoringOptions } from './scoring-options.ts';
export { selectTop } from './select-top.ts';
export { shuffledFrames } from './shuffled-coordinates.ts';
export {
  SIGNAL_GROUPS,
  type SignalBankOptions,
  type SignalGroup,
  signalBankOptions,
  signalNames,
} from './signal-bank/options.ts';
export { type SignalTable, signalTable } from './signal-bank/signal-bank.ts';
export { MEMORY_ONLY, StageGraph, type StageRoots, type WorkspaceIdentity, withInputs } from './stage-graph.ts';
export {
  type Artifact,
  addCounts,
  type Stage,
  type StageCount,
  type StageCounts,
  type StageResult,
  type StageStore,
} from './stage-store.ts';
export { Workspace, type WorkspaceInputs } from './workspace.ts';
export type { Encoding } from './workspace-inputs.ts';
