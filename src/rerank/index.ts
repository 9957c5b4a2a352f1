/** Scores of candidates, as tensor operations over [queries, candidates]. */

export { candidateAttention, unifiedScores } from './attention-score.ts';
export { type CosineRows, candidateCosines, hostCosines, pairCosines, QUERY_BATCH } from './cosine.ts';
export { DIVERSITY_FILTER_DEFAULTS, type DiversityFilterOptions, diversityFilter } from './diversity-filter.ts';
export { forwardAttention } from './forward-attention.ts';
export { FORWARD_TOLERANCE, type ForwardCosines, forwardCosines, forwardWidth } from './forward-cosines.ts';
export {
  type ForwardOptions,
  forwardLogMasses,
  inTimeOrder,
  type Looker,
  type TurnsAhead,
} from './forward-mass.ts';
export { type MarginalRelevanceOptions, maximalMarginalRelevance } from './maximal-marginal-relevance.ts';
export { candidateSimilarities, type Selection, type SelectionInputs } from './selection.ts';
export { finalScore, pairDistances, type TrajectoryPairs, trajectoryScore } from './trajectory-score.ts';
