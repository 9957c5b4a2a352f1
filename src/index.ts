/** What a newcomer needs first. Everything else stands in its room: `rag-plusplus/attention`, `rag-plusplus/evaluation` and so on. */

export { RING_ATTENTION_DEFAULTS, ringAttention } from './attention/index.ts';
export { createIndex } from './candidates/index.ts';
export { RagPlusPlusError, tf, useBackend } from './core/index.ts';
export { loadDataset } from './datasets/index.ts';
export { createEncoder } from './embedding/index.ts';
export { evaluate, summarise } from './evaluation/index.ts';
export { type ExperimentConfig, type ExperimentResult, loadConfig, runExperiment } from './experiment/index.ts';
export { Conversation, Corpus, type Dataset, type Query, type Turn } from './model/index.ts';
export { renderHtml, renderText } from './report/index.ts';
export { retrieve } from './retrieval/index.ts';
export { Workspace } from './signals/index.ts';
export { trajectoryCoordinates } from './trajectory/index.ts';
export { verify } from './verification/index.ts';
