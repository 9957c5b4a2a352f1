/** Selection: which of the best candidates are shown, in which order. */

export { type ColumnRerankingOptions, rerankByColumn } from './column-reranking.ts';
export { markDistinct } from './distinct.ts';
export { diversityFilter } from './diversity-filter.ts';
export { DIVERSITY_FILTER_DEFAULTS, type DiversityFilterOptions } from './diversity-filter-options.ts';
export { type MarginalRelevanceOptions, maximalMarginalRelevance } from './maximal-marginal-relevance.ts';
export { loadSelection, SELECTIONS, type SelectionOptions, selectionOptions } from './registry.ts';
export { computeSimilarities, type Selection, type SelectionInputs } from './selection.ts';
export { DUPLICATE_COSINE } from './selection-definition.ts';
