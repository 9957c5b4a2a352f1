/** Selection: which of the best candidates are shown, in which order. */

export { markDistinct } from '../../ops/selection/distinct.ts';
export { diversityFilter } from '../../ops/selection/diversity-filter.ts';
export {
  DIVERSITY_FILTER_DEFAULTS,
  type DiversityFilterOptions,
} from '../../ops/selection/diversity-filter-options.ts';
export {
  type MarginalRelevanceOptions,
  maximalMarginalRelevance,
} from '../../ops/selection/maximal-marginal-relevance.ts';
export { computeSimilarities, type Selection, type SelectionInputs } from '../../ops/selection/selection.ts';
export { DUPLICATE_COSINE } from '../../ops/selection/selection-definition.ts';
export { type ColumnRerankingOptions, rerankByColumn } from './column-reranking.ts';
export { loadSelection, SELECTIONS, type SelectionOptions, selectionOptions } from './registry.ts';
