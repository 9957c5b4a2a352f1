import { z } from 'zod';
import { candidateCount } from '../candidates/index-definition.ts';
import { defineVectorKind, distanceOption } from './vector-kind.ts';

/** The index of a table of vectors. */
const columnIndexOptions = {
  /** The index of the table; `none`: every search is exact. */
  method: z.enum(['hnsw', 'ivfflat', 'none']).default('hnsw'),
  m: z.int().min(2).max(100).default(16),
  efConstruction: z.int().min(4).max(1000).default(64),
  efSearch: z.int().min(1).max(1000).default(100),
  /** Lists of ivfflat, and how many of them a search reads. */
  lists: z.int().min(1).max(32768).default(100),
  probes: z.int().min(1).max(32768).default(10),
};

const live = z.strictObject({
  index: z.literal('pgvector'),
  distance: distanceOption,
  /** A Postgres server, `postgres://user:password@host:port/database`, read when it is connected to: no error quotes it. null: one inside this process (PGlite). */
  url: z.string().nullable().default(null),
  /** Where the Postgres inside this process stores its files; null: in memory. */
  folder: z.string().min(1).nullable().default(null),
  table: z
    .string()
    .min(1)
    .max(48)
    .regex(/^[a-z_][a-z0-9_]*$/)
    .default('memories'),
  ...columnIndexOptions,
});
export type PgvectorOptions = z.output<typeof live>;

const source = z.strictObject({
  index: z.literal('pgvector'),
  k: candidateCount,
  /** The environment variable that holds the connection string of a server, so that no file holds its password; null: Postgres inside this process. */
  urlVariable: z.string().min(1).nullable().default(null),
  ...columnIndexOptions,
});
export type PgvectorSourceOptions = z.output<typeof source>;

export const pgvector = defineVectorKind({
  live: {
    options: live,
    description: 'in Postgres with pgvector, inside this process or on a server: hnsw, ivfflat or exact',
  },
  source: {
    options: source,
    reads: ['vectors', 'times'],
    description: 'the vectors nearest by cosine, in Postgres with pgvector: hnsw, ivfflat or exact',
  },
});
