/** From a ranking to what a model is shown: documents and memories in one token budget. */

export {
  type AssembledContext,
  type AssemblyInput,
  type AssemblyOptions,
  type AssemblySources,
  assemble,
  assemblyOptionsSchema,
} from './assemble.ts';
export { type BudgetPreset, type BudgetSplit, type ContextShares, PRESET_OF_STRATEGY, splitBudget } from './budget.ts';
export { ContextCache, type ContextCacheUse } from './context-cache.ts';
export {
  type ContextItem,
  type CountedItem,
  ITEM_TYPES,
  type ItemType,
  type Packing,
} from './context-item.ts';
export type { DomainDatabase, DomainRow, DomainValue } from './domain/domain-database.ts';
export { type Domain, type DomainInput, readDomain } from './domain/domain-options.ts';
export { createDomainSource, type DomainSourceOptions, readDomainEntities } from './domain/domain-source.ts';
export { openDomainDatabase } from './domain/open-domain-database.ts';
export {
  type AnsweredQuestion,
  detectUse,
  type MemoryUse,
  type UseDetectionOptions,
  useDetectionOptions,
} from './feedback/detect-use.ts';
export type { HashedThing, HashText } from './feedback/log-key.ts';
export type { RetrievalEvent } from './feedback/retrieval-event.ts';
export { openRetrievalLog, type Retrieval, type RetrievalLog } from './feedback/retrieval-log.ts';
export {
  type MemorySources,
  type MemorySourcesData,
  openMemorySources,
} from './memory-sources.ts';
export {
  type MemorySourcesInput,
  type MemorySourcesOptions,
  memorySourcesSchema,
} from './memory-sources-options.ts';
export { mergeByWeight, rerankByWords } from './merge.ts';
export { PACKING_NAMES, PACKINGS, type PackingName, packByDensity, packInOrder, packKnapsack } from './packing.ts';
export { formatPrompt, formatTimeAgo } from './prompt.ts';
export {
  askSource,
  type ContextSource,
  type FoundItems,
  type ItemSource,
  type SourceAnswer,
  type SourceRequest,
} from './source.ts';
export { describeTurn } from './turn-item.ts';
