/** Scores of candidates, as tensor operations over [queries, candidates]. */

export { candidateAttention, unifiedScores } from '../signals/attention-score.ts';
export { forwardAttention } from '../signals/forward-attention.ts';
export { FORWARD_TOLERANCE, type ForwardCosines, forwardCosines, forwardWidth } from '../signals/forward-cosines.ts';
export {
  type ForwardOptions,
  forwardLogMasses,
  inTimeOrder,
  type Looker,
  type TurnsAhead,
} from '../signals/forward-mass.ts';
export { type CosineRows, candidateCosines, hostCosines, pairCosines, QUERY_BATCH } from '../signals/pair-cosines.ts';
export { finalScore, pairDistances, type TrajectoryPairs, trajectoryScore } from '../signals/trajectory-score.ts';
export { DIVERSITY_FILTER_DEFAULTS, type DiversityFilterOptions, diversityFilter } from './diversity-filter.ts';
export { type MarginalRelevanceOptions, maximalMarginalRelevance } from './maximal-marginal-relevance.ts';
export { candidateSimilarities, type Selection, type SelectionInputs } from './selection.ts';
