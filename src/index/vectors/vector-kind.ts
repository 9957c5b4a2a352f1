import { z } from 'zod';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';
import type { SavedIndex } from './saved-index.ts';

/** The comparison of vectors, an option of every index. */
const distanceOption = z.enum(['cosine', 'l2', 'inner-product']).default('cosine');

/** Rows that an index in this process can hold: the most entries of a Map of V8. */
export const LARGEST_TABLE = 2 ** 24;

/** Options of every index in this process besides its own. */
const liveKeys = {
  distance: distanceOption,
  /** The most rows; absent: {@link LARGEST_TABLE}. */
  capacity: z.int().min(1).max(LARGEST_TABLE).optional(),
};

/** Inputs of an index besides its options. */
export interface VectorIndexContext {
  /** D, at least 1. */
  readonly dimension: number;
  /** The rows that the index begins with; absent: none, or what its table holds. */
  readonly saved?: SavedIndex;
}

export type VectorIndexDefinition<S extends NamingOptions<'index'> = NamingOptions<'index'>> = Definition<'index', S>;

/** The implementation: opens the index. */
export type OpenVectorIndex<Options> = (options: Options, context: VectorIndexContext) => Promise<VectorIndex>;

type Options = NamingOptions<'index'>;

/** A kind of vector index, which costs nothing to import: `live` over rows that come and go, and as a `source` of an experiment, which searches a corpus as of a moment. */
export interface VectorKind<L extends Options, S extends Options> {
  readonly live: VectorIndexDefinition<L>;
  readonly source: IndexDefinition<S>;
}

const flatLive = z.strictObject({ index: z.literal('flat'), ...liveKeys });
export type FlatVectorsOptions = z.output<typeof flatLive>;

const flatSource = z.strictObject({ index: z.literal('flat'), k: candidateCount });

export const flat: VectorKind<typeof flatLive, typeof flatSource> = {
  live: { options: flatLive, description: 'exact: compares the query with every vector that it may see' },
  source: {
    options: flatSource,
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, exactly: compares the query with every vector',
  },
};

/**
 * A navigable small-world graph: neighbours of a node (`m`), and the lengths of the lists while it is built and
 * searched.
 */
export interface HnswOptions {
  /** M, the links of a node on each layer above the lowest. */
  readonly m: number;
  /** Candidates that are kept while a node is inserted. */
  readonly efConstruction: number;
  /** Candidates that are kept while a query is searched. The library raises it to k where k is larger. */
  readonly efSearch: number;
  readonly seed: number;
}

/** 32 neighbours, 200 candidates while building, 128 while searching. */
export const HNSW_DEFAULTS: Omit<HnswOptions, 'seed'> = freezeDeeply({ m: 32, efConstruction: 200, efSearch: 128 });

/** Named graphs: that of the papers' tables, and that of the engine's specification. */
export const HNSW_PRESETS = freezeDeeply({
  paper: HNSW_DEFAULTS,
  specification: { m: 16, efConstruction: 200, efSearch: 50 },
}) satisfies Readonly<Record<string, Omit<HnswOptions, 'seed'>>>;

const m = z.int().min(2).max(512);
const length = z.int().min(1);

/** Options of a live graph besides its seed. */
const liveGraphKeys = {
  ...liveKeys,
  preset: z.enum(['paper', 'specification']).default('paper'),
  m: m.optional(),
  efConstruction: length.optional(),
  efSearch: length.optional(),
};
const hnswLive = z.strictObject({ index: z.literal('hnsw'), ...liveGraphKeys, seed: z.int().min(0).default(1) });
export type HnswVectorsOptions = z.output<typeof hnswLive>;
const usearchLive = z.strictObject({ index: z.literal('usearch'), ...liveGraphKeys });
export type UsearchVectorsOptions = z.output<typeof usearchLive>;

/** The graph of the preset; options that are given replace its numbers. A library without seeds ignores the seed. */
export function chooseGraph(options: HnswVectorsOptions | UsearchVectorsOptions): HnswOptions {
  const { preset, m, efConstruction, efSearch } = options;
  const { [preset]: graph } = HNSW_PRESETS;
  return {
    m: m ?? graph.m,
    efConstruction: efConstruction ?? graph.efConstruction,
    efSearch: efSearch ?? graph.efSearch,
    seed: 'seed' in options ? options.seed : 0,
  };
}

const sourceGraphKeys = {
  k: candidateCount,
  m: m.default(HNSW_DEFAULTS.m),
  efConstruction: length.default(HNSW_DEFAULTS.efConstruction),
  efSearch: length.default(HNSW_DEFAULTS.efSearch),
};
const hnswSource = z.strictObject({ index: z.literal('hnsw'), ...sourceGraphKeys });
const usearchSource = z.strictObject({ index: z.literal('usearch'), ...sourceGraphKeys });

export const hnsw: VectorKind<typeof hnswLive, typeof hnswSource> = {
  live: {
    options: hnswLive,
    description: 'approximate, in memory: searches a navigable small-world graph; exact where few vectors are visible',
  },
  source: {
    options: hnswSource,
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, approximately: searches a navigable small-world graph',
  },
};

export const usearch: VectorKind<typeof usearchLive, typeof usearchSource> = {
  live: { options: usearchLive, description: 'as `hnsw`, by the optional package usearch' },
  source: {
    options: usearchSource,
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, approximately: a graph as of `hnsw`, by the optional package usearch',
  },
};

/** The index of a table of vectors. */
const columnIndexOptions = {
  /** The index of the table; `none`: every search is exact. */
  method: z.enum(['hnsw', 'ivfflat', 'none']).default('hnsw'),
  /** The type of the column: float32, or binary16 in half of the bytes. */
  storage: z.enum(['vector', 'halfvec']).default('vector'),
  /** The scan of a search among a part of the rows: with an order it goes on in the index until it has found enough. */
  iterativeScan: z.enum(['off', 'strict_order', 'relaxed_order']).default('relaxed_order'),
  m: z.int().min(2).max(100).default(16),
  efConstruction: z.int().min(4).max(1000).default(64),
  efSearch: z.int().min(1).max(1000).default(100),
  /** Lists of ivfflat, and how many of them a search reads. */
  lists: z.int().min(1).max(32768).default(100),
  probes: z.int().min(1).max(32768).default(10),
};

const pgvectorLive = z.strictObject({
  index: z.literal('pgvector'),
  distance: distanceOption,
  /**
   * A Postgres server, `postgres://user:password@host:port/database`, read when it is connected to: no error quotes it.
   * null: one inside this process (PGlite).
   */
  url: z.string().nullable().default(null),
  /** The folder of the Postgres inside this process; null: in memory. */
  folder: z.string().min(1).nullable().default(null),
  table: z
    .string()
    .min(1)
    .max(48)
    .regex(/^[a-z_][a-z0-9_]*$/)
    .default('memories'),
  ...columnIndexOptions,
});
export type PgvectorOptions = z.output<typeof pgvectorLive>;

const pgvectorSource = z.strictObject({
  index: z.literal('pgvector'),
  k: candidateCount,
  /**
   * The environment variable that holds the connection string of a server, so that no file holds its password; null:
   * Postgres inside this process.
   */
  urlVariable: z.string().min(1).nullable().default(null),
  ...columnIndexOptions,
});
export type PgvectorSourceOptions = z.output<typeof pgvectorSource>;

export const pgvector: VectorKind<typeof pgvectorLive, typeof pgvectorSource> = {
  live: {
    options: pgvectorLive,
    description: 'in Postgres with pgvector, inside this process or on a server: hnsw, ivfflat or exact',
  },
  source: {
    options: pgvectorSource,
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, in Postgres with pgvector: hnsw, ivfflat or exact',
  },
};
