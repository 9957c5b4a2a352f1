import { z } from 'zod';
import { readBytes } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { candidateCount } from '../candidates/index-definition.ts';

export const run = {
  options: z.strictObject({
    index: z.literal('run'),
    /** A run file, TREC or JSONL. */
    path: z.string().min(1),
    k: candidateCount,
    /** Of the file's content, so that a resolved config depends on no file that may change; without it the file counts as it is. */
    hash: z.string().optional(),
  }),
  description: 'the turns that a run file of another system lists',
  reads: [],
};
/** The rankings of another system as a source of candidates: a run file, and the number k of candidates. */
export type RunIndexOptions = z.output<typeof run.options>;

/** Identity of the content of a run file. @throws StorageError for a file that cannot be read. */
export function hashRunFile({ path, hash }: Pick<RunIndexOptions, 'path' | 'hash'>): string {
  return hash ?? computeHash(readBytes(path));
}
