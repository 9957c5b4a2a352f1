import { existsSync } from 'node:fs';
import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { assertContent, type EncoderDefinition } from './encoder-definition.ts';
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
  /** The name of the model that made the vectors: weights learned with its vectors of one data set fit those of another. */
  model: z.string().min(1).optional(),
  /** Of the content of the files, so that a resolved config depends on no file that may change; without it the files count as they are. */
  hash: z.string().optional(),
});
/** The files of your own vectors of turns and of queries. */
export type PrecomputedOptions = z.output<typeof options>;

/** The content of a file of vectors and of its ids. A sidecar that the file may not need is counted too. */
function identifyFile(path: string | null, ids: string | null): unknown {
  if (path === null) return null;
  const sidecar = findSidecar(path, ids);
  return { vectors: hashFileContent(path), ids: sidecar === null ? null : hashFileContent(sidecar) };
}

function identifyFiles({ turns, turnIds, queries, queryIds }: PrecomputedOptions) {
  return { turns: identifyFile(turns, turnIds), queries: identifyFile(queries, queryIds) };
}

const hashFiles = (options: PrecomputedOptions) => computeHash(identifyFiles(options));

/** @throws StorageError when a file cannot be read, ValidationError for another content than the options state. */
export function precomputedIdentity(options: PrecomputedOptions): Record<string, unknown> {
  assertContent(options.turns, options.hash, hashFiles(options));
  return { encoder: 'precomputed', version: 1, ...identifyFiles(options), dimension: options.dimension };
}

const PATHS = ['turns', 'turnIds', 'queries', 'queryIds'] as const;

function findMissing(options: PrecomputedOptions): (typeof PATHS)[number] | null {
  return PATHS.find((key) => options[key] !== null && !existsSync(options[key])) ?? null;
}

export const precomputed: EncoderDefinition<typeof options> = {
  options,
  description: 'your own vectors by id, from files in the format npy, safetensors or Parquet',
  identity: precomputedIdentity,
  dependsOn: () => 'id',
  files: { keys: PATHS, findMissing, hash: hashFiles },
};
