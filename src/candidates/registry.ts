import { z } from 'zod';
import { parse } from '../core/validation.ts';
import type { CandidateIndex } from '../model/candidates.ts';
import type { Corpus } from '../model/corpus.ts';
import { BM25_DEFAULTS, Bm25Index } from './bm25.ts';
import { BM25_VARIANTS, type Bm25VariantName } from './bm25-variants.ts';
import { unchangingRows } from './dense-rows.ts';
import { FlatIndex } from './flat.ts';
import { HNSW_DEFAULTS, HnswIndex } from './hnsw.ts';
import { NewestFirstIndex } from './newest-first.ts';

/** What an index may be made from besides its options. */
export interface IndexContext {
  readonly corpus: Corpus;
  /** Row-major [N, D], for the indexes that compare vectors. */
  readonly vectors: Float32Array;
  /** D. */
  readonly dimension: number;
  readonly seed: number;
}

const k = z.int().min(1).default(100);

const flatOptions = z.strictObject({ index: z.literal('flat'), k });
const hnswOptions = z.strictObject({
  index: z.literal('hnsw'),
  k,
  m: z.int().min(2).default(HNSW_DEFAULTS.m),
  efConstruction: z.int().min(1).default(HNSW_DEFAULTS.efConstruction),
  efSearch: z.int().min(1).default(HNSW_DEFAULTS.efSearch),
});
const bm25Options = z.strictObject({
  index: z.literal('bm25'),
  k,
  k1: z.number().min(0).default(BM25_DEFAULTS.k1),
  b: z.number().min(0).max(1).default(BM25_DEFAULTS.b),
  variant: z.enum(Object.keys(BM25_VARIANTS) as [Bm25VariantName, ...Bm25VariantName[]]).default(BM25_DEFAULTS.variant),
  dropStopWords: z.boolean().default(BM25_DEFAULTS.dropStopWords),
  stem: z.boolean().default(BM25_DEFAULTS.stem),
});
const newestOptions = z.strictObject({ index: z.literal('newest'), k });

/** The options of every index, told apart by `index`; unknown keys are refused. */
export const indexOptions = z.discriminatedUnion('index', [flatOptions, hnswOptions, bm25Options, newestOptions]);
export type IndexOptions = z.output<typeof indexOptions>;
export type Bm25IndexOptions = z.output<typeof bm25Options>;

export function createBm25(options: Bm25IndexOptions, corpus: Corpus): Bm25Index {
  const { turns } = corpus;
  return new Bm25Index(
    turns.map(({ id }) => id),
    turns.map(({ text }) => text),
    options,
  );
}

/**
 * The index that the options name, over the whole corpus; what a query may see of it is decided by its cutoff.
 *
 * @throws ConfigurationError for an unknown index and for options that are none of it.
 */
export function createIndex(written: IndexOptions, context: IndexContext): CandidateIndex {
  const options = parse(indexOptions, written, 'the options of an index');
  const ids = context.corpus.turns.map(({ id }) => id);
  switch (options.index) {
    case 'flat':
      return new FlatIndex(ids, unchangingRows(context.vectors, context.dimension));
    case 'hnsw':
      return new HnswIndex(ids, context.vectors, context.dimension, { ...options, seed: context.seed });
    case 'bm25':
      return createBm25(options, context.corpus);
    case 'newest':
      return new NewestFirstIndex(context.corpus.size);
  }
}
