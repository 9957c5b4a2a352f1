import { z } from 'zod';
import type { EncoderDefinition } from './encoder-definition.ts';
import { hashFileContent } from './precomputed/content-hash.ts';
import { findSidecar } from './precomputed/vector-ids.ts';

const file = z.string().min(1);

const options = z.strictObject({
  encoder: z.literal('precomputed'),
  /** The vectors of turns, and of queries if `queries` is null. */
  turns: file,
  turnIds: file.nullable().default(null),
  queries: file.nullable().default(null),
  queryIds: file.nullable().default(null),
  /** Keeps the first components; null for all. */
  dimension: z.int().min(1).nullable().default(null),
});
export type PrecomputedOptions = z.output<typeof options>;

/** The content of a file of vectors and of its ids. A sidecar that the file may not need is counted too. */
function identifyFile(path: string | null, ids: string | null): unknown {
  if (path === null) return null;
  const sidecar = findSidecar(path, ids);
  return { vectors: hashFileContent(path), ids: sidecar === null ? null : hashFileContent(sidecar) };
}

/** @throws StorageError when a file cannot be read. */
export function precomputedIdentity(options: PrecomputedOptions): Record<string, unknown> {
  const { turns, turnIds, queries, queryIds, dimension } = options;
  return {
    encoder: 'precomputed',
    version: 1,
    turns: identifyFile(turns, turnIds),
    queries: identifyFile(queries, queryIds),
    dimension,
  };
}

export const precomputed: EncoderDefinition<typeof options> = {
  options,
  description: 'your own vectors by id, from files in the format npy, safetensors or Parquet',
  identity: precomputedIdentity,
  dependsOn: () => 'id',
};
