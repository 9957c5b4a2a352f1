/** What a memory knows about outcomes: running statistics of a record, and priors over the records that a query retrieves. */

export type { Histogram } from './histogram.ts';
export {
  assertOutcome,
  computePopulationVariance,
  computeSampleVariance,
  LARGEST_OUTCOME,
  mergeOutcomeStatistics,
  updateOutcomeStatistics,
} from './outcome-statistics.ts';
export {
  computePriors,
  type KnownPrior,
  PRIOR_KAPPA,
  PRIOR_PERCENTILES,
  type PriorBundle,
  type PriorOptions,
  type UnknownPrior,
} from './prior-bundle.ts';
export { type MemoryStore, openStore, type StoreOptions } from './store/memory-store.ts';
export { type RepairReport, repairStore } from './store/repair-store.ts';
