/** Selection: which of the best candidates are shown, in which order. */

export { DIVERSITY_FILTER_DEFAULTS, type DiversityFilterOptions, diversityFilter } from './diversity-filter.ts';
export { type MarginalRelevanceOptions, maximalMarginalRelevance } from './maximal-marginal-relevance.ts';
export { candidateSimilarities, type Selection, type SelectionInputs } from './selection.ts';
