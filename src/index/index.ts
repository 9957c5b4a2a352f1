/** Candidates: the turns that are worth scoring for a query, each strictly earlier than it. */

export type {
  CreateIndex,
  IndexContext,
  IndexDefinition,
  IndexReads,
  ScorePairs,
} from './candidates/index-definition.ts';
export { NewestFirstIndex } from './candidates/newest-first.ts';
export { assertAdmissible, listVisibleTurns } from './candidates/query-batch.ts';
export { recallAt } from './candidates/recall.ts';
export { isListed } from './candidates/visible-turns.ts';
export {
  createIndex,
  INDEXES,
  type IndexInput,
  type IndexInputs,
  type IndexOptions,
  indexOptions,
  loadIndex,
} from './registry.ts';
export { RunIndex } from './runs/run-index.ts';
export { parseRunLines, type RunLine } from './runs/run-lines.ts';
export type { RunIndexOptions } from './runs/run-options.ts';
export { buildUnchangingRows, type DenseRows, FOREVER } from './vectors/dense-rows.ts';
export { FlatIndex } from './vectors/flat.ts';
export { HnswIndex, type HnswLibrary } from './vectors/hnsw.ts';
export { HNSW_DEFAULTS, HNSW_PRESETS, type HnswOptions } from './vectors/hnsw-options.ts';
export { asCandidateIndex, type ReplayedTurns } from './vectors/live/candidate-replay.ts';
export {
  openVectorIndex,
  VECTOR_INDEXES,
  type VectorIndexInput,
  type VectorIndexOptions,
  vectorIndexOptions,
} from './vectors/live/registry.ts';
export type { GraphIndexOptions } from './walks/graph-options.ts';
export { Bm25Index, createBm25 } from './words/bm25.ts';
export { BM25_DEFAULTS, type Bm25IndexOptions, type Bm25Options } from './words/bm25-options.ts';
export { BM25_VARIANTS, type Bm25Parameters, type Bm25Variant, type Bm25VariantName } from './words/bm25-variants.ts';
export { GroupedBm25, type GroupedBm25Options, type TurnGroups } from './words/grouped-bm25.ts';
export { TermPostings } from './words/term-postings.ts';
