/** Ring attention (RCP, IRCP), trajectory attention (TPO), the unified mix, and propagation. */

export { attend } from './attend.ts';
export type { AttentionRows, RowAttention } from './attention-rows.ts';
export { computeBandError, computeBandWidth, findLeastBandWidth } from './band.ts';
export { bandedRingAttention } from './banded-ring-attention.ts';
export { blockwiseRingAttention } from './blockwise-ring-attention.ts';
export { type CorpusPropagation, propagateCorpus } from './corpus-propagation.ts';
export {
  type AttentionMix,
  type AttentionMode,
  attentionMix,
  attentionMode,
  type PropagationOptions,
  propagationOptions,
  RING_ATTENTION_DEFAULTS,
  type RingAttentionOptions,
  ringAttentionOptions,
  type UnifiedAttentionOptions,
  unifiedAttentionOptions,
} from './options.ts';
export { PROPAGATION_PRESETS, type PropagationPreset } from './presets.ts';
export { propagateAtMoments, propagateEmbeddings, type RingPositionsAsOf } from './propagation.ts';
export { type Attention, type AttentionInputs, ringAttention } from './ring-attention.ts';
export {
  type TrajectoryAttentionInputs,
  type TrajectoryAttentionOptions,
  trajectoryAttention,
} from './trajectory-attention.ts';
export type { TurnOrder, TurnRingPositions } from './turn-order.ts';
export { unifiedAttention } from './unified-attention.ts';
export { type PropagatedVersions, propagateVersions } from './versioned-propagation.ts';
