/** Candidates, fusion and rerank scores composed into what one arm of an ablation is. */

export {
  SIGNAL_GROUPS,
  type SignalBankOptions,
  type SignalGroup,
  signalBankOptions,
  signalNames,
} from '../signals/bank/options.ts';
export { type SignalTable, signalTable } from '../signals/bank/signal-bank.ts';
export { type CandidatePool, type PoolRows, poolOf } from '../signals/candidate-pool.ts';
export {
  type Artifact,
  addCounts,
  type Stage,
  type StageCount,
  type StageCounts,
  type StageResult,
  type StageStore,
} from '../signals/stage.ts';
export type { Encoding } from '../signals/workspace-inputs.ts';
export {
  CONTROL_KINDS,
  type ControlKind,
  type ControlOptions,
  controlOptions,
} from '../signals/worlds/control-options.ts';
export { controlsFor } from '../signals/worlds/null-controls.ts';
export { permutedOrder } from '../signals/worlds/permuted-order.ts';
export { randomParents } from '../signals/worlds/random-parents.ts';
export { rewire, rewiredTrees } from '../signals/worlds/rewired-graph.ts';
export { shuffledFrames } from '../signals/worlds/shuffled-coordinates.ts';
export { blend, byRowMaximum } from './blend.ts';
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
export { type ScoringOptions, scoringOptions } from './scoring-options.ts';
export { selectTop } from './select-top.ts';
export { MEMORY_ONLY, StageGraph, type StageRoots, type WorkspaceIdentity, withInputs } from './stage-graph.ts';
export { Workspace, type WorkspaceInputs } from './workspace.ts';
