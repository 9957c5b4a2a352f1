/** Memories with outcomes that a program keeps, finds and curates, and what a model is shown of them. */

export type { MemoryRecord } from '../model/turns/turn.ts';
export { readDomain } from '../rank/query/domain/domain-options.ts';
export { openDomainDatabase } from '../rank/query/domain/domain-records.ts';
export { connectMemory } from './client/connect-memory.ts';
export { assemble } from './context/assemble.ts';
export { ContextCache } from './context/context-cache.ts';
export { createDomainSource } from './context/domain-source.ts';
export { detectUse } from './context/feedback/detect-use.ts';
export { openMemorySources } from './context/memory-sources.ts';
export type { ContextItem } from './context/source.ts';
export { openCurator } from './curation/curator.ts';
export { createEndpointDecider } from './curation/endpoint-decider.ts';
export type { Memory } from './engine/memory.ts';
export { openMemory } from './engine/open-memory.ts';
export { openFactStore } from './facts/fact-store.ts';
export { computePriors } from './outcomes/prior-bundle.ts';
export { openConsolidator } from './patterns/consolidator.ts';
export { QueryPatternTracker } from './patterns/query-pattern-tracker.ts';
export { reinforce } from './patterns/reinforce.ts';
export { openRetrievalLog } from './retrievals/retrieval-log.ts';
export { openStore } from './store/open-store.ts';
