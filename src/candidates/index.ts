/** Candidates: the turns that are worth scoring for a query, each strictly earlier than it. */

export { Bm25Index, createBm25 } from './bm25.ts';
export { BM25_DEFAULTS, type Bm25IndexOptions, type Bm25Options } from './bm25-options.ts';
export { BM25_VARIANTS, type Bm25Parameters, type Bm25Variant, type Bm25VariantName } from './bm25-variants.ts';
export { buildUnchangingRows, type DenseRows, FOREVER } from './dense-rows.ts';
export { FlatIndex } from './flat.ts';
export type { GraphIndexOptions } from './graph-options.ts';
export { GroupedBm25, type GroupedBm25Options, type TurnGroups } from './grouped-bm25.ts';
export { HnswIndex, type HnswLibrary } from './hnsw.ts';
export { HNSW_DEFAULTS, type HnswOptions } from './hnsw-options.ts';
export type { CreateIndex, IndexContext, IndexDefinition, IndexReads, ScorePairs } from './index-definition.ts';
export { asCandidateIndex, type ReplayedTurns } from './live/candidate-replay.ts';
export { HNSW_PRESETS } from './live/hnsw-vectors-options.ts';
export {
  openVectorIndex,
  VECTOR_INDEXES,
  type VectorIndexInput,
  type VectorIndexOptions,
  vectorIndexOptions,
} from './live/registry.ts';
export { NewestFirstIndex } from './newest-first.ts';
export { assertAdmissible, listVisibleTurns } from './query-batch.ts';
export { recallAt } from './recall.ts';
export {
  createIndex,
  INDEXES,
  type IndexInput,
  type IndexInputs,
  type IndexOptions,
  indexOptions,
  loadIndex,
} from './registry.ts';
export { RunIndex } from './run-index.ts';
export { parseRunLines, type RunLine } from './run-lines.ts';
export type { RunIndexOptions } from './run-options.ts';
export { TermPostings } from './term-postings.ts';
export { isListed } from './visible-turns.ts';
