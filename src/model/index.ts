/** The types that stages exchange: turns, conversations, queries, candidates, runs, judgements, and the tie rule. */

export {
  assertSendable,
  type Cleared,
  type DividedItems,
  formatSendable,
  joinSendable,
  type Sendable,
  type SendableText,
  stateOwnText,
  withholdSensitive,
} from '../core/service/sendable-text.ts';
export type { CandidateIndex, Candidates, MemoryQuestion, QueryBatch, SeedTurns } from './candidates.ts';
export type { Dataset, DatasetDeclaration, Query, Split } from './dataset.ts';
export type { EncodeOptions, Encoder, TextOwner } from './encoder.ts';
export { showFigure } from './figures/figure.ts';
export { bindFilter, compileFilter, type FilterPredicate } from './filter/compile-filter.ts';
export {
  compileFilterSql,
  FILTER_COLUMNS,
  type FilterColumns,
  type FilterSql,
  type FilterSqlOptions,
} from './filter/compile-filter-sql.ts';
export {
  type FieldValue,
  type Filter,
  type FilterComparison,
  type FilterSubject,
  type FilterValue,
  type FilterVariables,
  listFilterVariables,
  MAX_FILTER_DEPTH,
  type OwnField,
} from './filter/filter.ts';
export { filterSchema, readFilter } from './filter/filter-schema.ts';
export { formatFilter } from './filter/format-filter.ts';
export { parseFilter } from './filter/parse-filter.ts';
export { GRADES, type Judgement, type PairToJudge } from './judgement.ts';
export type { Qrels, Run } from './run.ts';
export {
  type Attributes,
  type AttributeValue,
  attributesSchema,
  isSensitive,
  RESERVED_ATTRIBUTES,
  TURN_FIELDS,
} from './turns/attributes.ts';
export { Conversation, compareTurns } from './turns/conversation.ts';
export { showThread } from './turns/conversation-display.ts';
export { listConversationPositions } from './turns/conversation-positions.ts';
export { Corpus } from './turns/corpus.ts';
export {
  buildMemoryText,
  DEFAULT_IMPORTANCE,
  type FactFields,
  MEMORY_TYPES,
  type MemoryFields,
  type MemoryType,
  type ProcedureFields,
  readImportance,
  readMemoryFields,
  type SummaryFields,
} from './turns/memory-fields.ts';
export {
  EMPTY_OUTCOME_STATISTICS,
  type MemoryRecord,
  type OutcomeStatistics,
  type RecordParts,
  type RecordTrajectory,
  toMemoryRecord,
  toTurn,
} from './turns/memory-record.ts';
export { type MemoryRecordInput, memoryRecordSchema } from './turns/memory-record-schema.ts';
export { compareBytes, compareScored, rankIdsDescending, type Scored } from './turns/tie-rule.ts';
export type { Turn } from './turns/turn.ts';
export type { Distance, VectorIndex, VectorMatch, VectorRow, VectorSearchOptions } from './vector-index.ts';
