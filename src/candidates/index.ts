/** Candidates: the turns that are worth scoring for a query, each strictly earlier than it. */

export { assertAdmissible } from './admissible.ts';
export { BM25_DEFAULTS, Bm25Index, type Bm25Options } from './bm25.ts';
export { BM25_VARIANTS, type Bm25Parameters, type Bm25Variant, type Bm25VariantName } from './bm25-variants.ts';
export { type DenseRows, FOREVER, unchangingRows } from './dense-rows.ts';
export { FlatIndex } from './flat.ts';
export { GroupedBm25, type GroupedBm25Options, type TurnGroups } from './grouped-bm25.ts';
export { HNSW_DEFAULTS, HnswIndex, type HnswLibrary, type HnswOptions } from './hnsw.ts';
export { idPlaces } from './id-order.ts';
export { NewestFirstIndex } from './newest-first.ts';
export { recallAt } from './recall.ts';
export {
  type Bm25IndexOptions,
  createBm25,
  createIndex,
  type IndexContext,
  type IndexOptions,
  indexOptions,
} from './registry.ts';
export { TermPostings } from './term-postings.ts';
