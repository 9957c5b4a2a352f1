import { z } from 'zod';
import { distanceOption, type VectorIndexDefinition } from './vector-index-definition.ts';

/** The index of a table of vectors. */
export const columnIndexOptions = {
  /** The index of the table; `none`: every search is exact. */
  method: z.enum(['hnsw', 'ivfflat', 'none']).default('hnsw'),
  m: z.int().min(2).max(100).default(16),
  efConstruction: z.int().min(4).max(1000).default(64),
  efSearch: z.int().min(1).max(1000).default(100),
  /** Lists of ivfflat, and how many of them a search reads. */
  lists: z.int().min(1).max(32768).default(100),
  probes: z.int().min(1).max(32768).default(10),
};

const options = z.strictObject({
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

export type PgvectorOptions = z.output<typeof options>;

export const pgvector: VectorIndexDefinition<typeof options> = {
  options,
  description: 'in Postgres with pgvector, inside this process or on a server: hnsw, ivfflat or exact',
};
