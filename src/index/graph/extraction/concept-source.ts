import { z } from 'zod';
import { hashFileContent } from '../../encoders/precomputed/content-hash.ts';
import type { TextConceptSource } from '../graph-moment.ts';

/** A file of `ragpp graph extract` in a config. */
export const conceptFileSource = z.strictObject({
  /** JSON Lines with the concepts of every turn. */
  file: z.string().min(1),
  /** Of the file's content, so that a resolved config depends on no file that may change; without it the file counts as it is. */
  hash: z.string().exactOptional(),
});
/** A file of `ragpp graph extract`, with the hash of its content if that may not change. */
export type ConceptFileSource = z.output<typeof conceptFileSource>;

/** What is a concept of a turn: what its text has, or what a file states. */
export type ConceptSource = TextConceptSource | ConceptFileSource;

/** What the concepts of a text are that a source of turns has no line for, such as a query: of a file, phrases. */
export function chooseTextSource(source: ConceptSource): TextConceptSource {
  return typeof source === 'string' ? source : 'phrases';
}

/** Identity of a source for keys: of a file its content. @throws StorageError for a file that cannot be read. */
export function identifyConceptSource(source: ConceptSource): unknown {
  return typeof source === 'string' ? source : { content: source.hash ?? hashFileContent(source.file) };
}
