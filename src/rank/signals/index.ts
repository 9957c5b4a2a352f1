/** Every column that scores a candidate, one definition each, and the disturbed worlds of null controls. */

export { attentionSignal } from './attention.ts';
export { type AttentionOptions, attentionOptions } from './attention-options.ts';
export { candidateAttention, mixUnifiedScores } from './attention-score.ts';
export {
  listSignalNames,
  type ScoringOptions,
  SIGNAL_GROUPS,
  type SignalBankOptions,
  type SignalGroup,
  scoringOptions,
  signalBankOptions,
} from './bank/options.ts';
export { type SignalTable, signalTable } from './bank/signal-bank.ts';
export { bm25Signal } from './bm25.ts';
export { type CandidatePool, type Column, joinCandidates, type PoolRows, QUERY_BATCH } from './candidate-pool.ts';
export {
  type CosineRows,
  computeCandidateCosines,
  computeHostCosines,
  computePairCosines,
  cosineSignal,
} from './cosine.ts';
export { decaySignal } from './decay.ts';
export { forwardAttention } from './forward-attention.ts';
export { buildForwardCosines, type ForwardCosines } from './forward-cosines.ts';
export {
  computeForwardLogMasses,
  type ForwardOptions,
  type Looker,
  listTurnsAhead,
  type TurnsAhead,
} from './forward-mass.ts';
export { computeForwardWidth, FORWARD_TOLERANCE } from './forward-width.ts';
export {
  computeMemorySignals,
  explainMemoryScore,
  MEMORY_SIGNALS,
  type MemoryReason,
  type MemorySignal,
  type MemorySignals,
  type RatedMemory,
  type RatedQuestion,
  scoreMemorySignals,
} from './memory-signals.ts';
export { Plan, type StageRoots, type WorkspaceIdentity, withInputs } from './plan.ts';
export { recencySignal } from './recency.ts';
export { SIGNALS } from './registry.ts';
export {
  defineSignal,
  defineStage,
  type Encoding,
  type Setting,
  type Signal,
  type StageDefinition,
  type StageUse,
  type World,
} from './signal.ts';
export {
  type Artifact,
  addCounts,
  type Stage,
  type StageCount,
  type StageCounts,
  type StageResult,
  type StageStore,
} from './stage.ts';
export { STRATEGY_SIGNALS, strategySignal, weighByQuery } from './strategy.ts';
export { type StrategyOptions, strategyOptions } from './strategy-options.ts';
export { trajectorySignal } from './trajectory.ts';
export { TRAJECTORY_DEFAULTS, type TrajectoryOptions, trajectoryOptions } from './trajectory-options.ts';
export {
  blendTrajectory,
  computeTrajectoryDistances,
  type TrajectoryPairs,
  trajectoryScore,
} from './trajectory-score.ts';
export { Workspace, type WorkspaceInputs } from './workspace.ts';
export { CONTROL_KINDS, type ControlKind, type ControlOptions, controlOptions } from './worlds/control-options.ts';
export { drawPermutedOrder } from './worlds/permuted-order.ts';
export { drawRandomParents } from './worlds/random-parents.ts';
export { drawRewiredTrees, rewire } from './worlds/rewired-graph.ts';
export { shuffleFrames } from './worlds/shuffled-coordinates.ts';
export { disturbs, type WorldPart } from './worlds/world-parts.ts';
