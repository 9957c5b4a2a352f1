import { z } from 'zod';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';
import { columnIndexOptions } from './live/pgvector-options.ts';

const options = z.strictObject({
  index: z.literal('pgvector'),
  k: candidateCount,
  /** The environment variable that holds the connection string of a server, so that no file holds its password; null: Postgres inside this process. */
  urlVariable: z.string().min(1).nullable().default(null),
  ...columnIndexOptions,
});

export type PgvectorSourceOptions = z.output<typeof options>;

export const pgvector: IndexDefinition<typeof options> = {
  options,
  reads: ['vectors', 'times'],
  description: 'the vectors nearest by cosine, in Postgres with pgvector: hnsw, ivfflat or exact',
};
