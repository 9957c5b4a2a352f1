/** Sources to conversations, queries and judgements; turns, and the filters that choose among them. */

export { withholdSensitive } from '../core/service/sendable-text.ts';
export type { Dataset, Query } from '../model/dataset.ts';
export { bindFilter } from '../model/filter/compile-filter.ts';
export { compileFilterSql } from '../model/filter/compile-filter-sql.ts';
export { formatFilter } from '../model/filter/filter-schema.ts';
export { parseFilter } from '../model/filter/parse-filter.ts';
export { Conversation } from '../model/turns/conversation.ts';
export { showThread } from '../model/turns/conversation-display.ts';
export { Corpus } from '../model/turns/corpus.ts';
export { type Attributes, isSensitive } from '../model/turns/memory-fields.ts';
export type { Turn } from '../model/turns/turn.ts';
export { datasetOptions, loadDataset } from './registry.ts';
export { drawBenchmarkData } from './synthetic/benchmark-vectors.ts';
export { computePlantedLevels, drawPlantedConversations } from './synthetic/planted-conversations.ts';
export { buildPlantedDataset } from './synthetic/synthetic.ts';
