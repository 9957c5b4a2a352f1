/**
 * The mathematics, on tensors or arrays: trajectory coordinates, ring attention, conservation, PageRank, fusion,
 * selection.
 */

export { attend } from './attention/attend.ts';
export { computeBandError } from './attention/band.ts';
export { bandedRingAttention } from './attention/banded-ring-attention.ts';
export { blockwiseRingAttention } from './attention/blockwise-ring-attention.ts';
export { propagateCorpus } from './attention/corpus-propagation.ts';
export { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from './attention/options.ts';
export { ringAttention } from './attention/ring-attention.ts';
export { trajectoryAttention } from './attention/trajectory-attention.ts';
export { unifiedAttention } from './attention/unified-attention.ts';
export { validateConservation } from './conservation/conservation-laws.ts';
export { computeConservationMetrics } from './conservation/conservation-metrics.ts';
export { ConservationStream } from './conservation/conservation-stream.ts';
export { fuseLists } from './fusion/registry.ts';
export { createPageRankSolver } from './pagerank/pagerank-registry.ts';
export { buildTransitionMatrix } from './pagerank/transition-matrix.ts';
export { diversityFilter } from './selection/diversity-filter.ts';
export { maximalMarginalRelevance } from './selection/maximal-marginal-relevance.ts';
export { countComponents } from './trajectory/complexity.ts';
export { listCoordinateWeights } from './trajectory/coordinate-names.ts';
export { computeTrajectoryCoordinates, type TrajectoryCoordinates } from './trajectory/coordinates.ts';
export { pairwiseTrajectoryDistance } from './trajectory/trajectory-distance.ts';
