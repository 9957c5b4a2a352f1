/** The memory engine: records with outcomes, found by embedding, and priors over the outcomes of what a query retrieves. */

export { LARGEST_OUTCOME } from '../model/turns/memory-record.ts';
export type { Decision, RecordChange } from './changes/change-log.ts';
export type { CurationChoice, CurationDecider, Neighbour } from './curation/curation-choice.ts';
export type { CurationEntry } from './curation/curation-entry.ts';
export { type CurationOptions, type Curator, type CuratorSettings, openCurator } from './curation/curator.ts';
export {
  type CurationEndpointOptions,
  createEndpointDecider,
  curationEndpointOptions,
  type EndpointDecider,
} from './curation/endpoint-decider.ts';
export { type FusionChoice, type IndexAnswers, IndexRegistry } from './engine/index-registry.ts';
export type { Memory, MemorySearchOptions } from './engine/memory.ts';
export { type MemoryInput, type MemoryOptions, memoryOptions } from './engine/memory-options.ts';
export { openMemory } from './engine/open-memory.ts';
export type { QueryBundle } from './engine/query-bundle.ts';
export type { CandidateProvenance, QueryResponse, RankedCandidate } from './engine/query-response.ts';
export { type RerankerOptions, rerankerOptions } from './engine/reranker-options.ts';
export { computeRerankScores, type RerankedCandidate } from './engine/rerankers.ts';
export type { FactStore } from './facts/fact-store.ts';
export { type FactStoreOptions, openFactStore } from './facts/open-fact-store.ts';
export type { Histogram } from './outcomes/histogram.ts';
export {
  assertOutcome,
  computePopulationVariance,
  computeSampleVariance,
  mergeOutcomeStatistics,
  updateOutcomeStatistics,
} from './outcomes/outcome-statistics.ts';
export {
  computePriors,
  type KnownPrior,
  PRIOR_KAPPA,
  PRIOR_PERCENTILES,
  type PriorBundle,
  type PriorOptions,
  type UnknownPrior,
} from './outcomes/prior-bundle.ts';
export {
  type Consolidation,
  type Consolidator,
  type ConsolidatorSettings,
  openConsolidator,
} from './patterns/consolidator.ts';
export {
  type ConsolidationOptions,
  consolidationOptions,
  type RetrievalCounts,
} from './patterns/plan-consolidation.ts';
export { type QueryPattern, type QueryPatternSnapshot, QueryPatternTracker } from './patterns/query-pattern-tracker.ts';
export { readUseCount, reinforce } from './patterns/reinforce.ts';
export type { MemoryStore } from './store/memory-store.ts';
export { openStore, type StoreOptions } from './store/open-store.ts';
export { type RepairReport, repairStore } from './store/repair-store.ts';
