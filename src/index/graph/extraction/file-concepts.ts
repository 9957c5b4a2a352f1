import { ValidationError } from '../../../core/errors/errors.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { hashFileContent } from '../../encoders/precomputed/content-hash.ts';
import { listConcepts, readTitle } from '../list-concepts.ts';
import { hashTurnTexts, listWithheldTurns, readConceptFile } from './concept-file.ts';
import type { ConceptFileSource } from './concept-source.ts';

/** The concepts of turns, and the pairs of them that triples join. */
export interface FileConcepts {
  /** [turns] */
  readonly concepts: readonly (readonly string[])[];
  /** [turns] subject and object of each triple. */
  readonly relations: readonly (readonly (readonly [string, string])[])[];
  /** What to report of the file; null for nothing. */
  readonly remark: string | null;
}

/**
 * The concepts of turns that a file states. A turn that extraction withholds and the file lacks has its noun phrases.
 *
 * @throws ValidationError for another content than the source states, for a file that is none of concepts, and for turns without a line; StorageError for a file
 * that cannot be read.
 */
export function readFileConcepts(turns: readonly Turn[], { file, hash }: ConceptFileSource): FileConcepts {
  if (hash !== undefined && hashFileContent(file) !== hash)
    throw new ValidationError(`file of concepts has changed since the config was read: ${file}; run the config again`, {
      file,
    });
  const { header, lines } = readConceptFile(file);
  const lineOf = new Map(lines.map((line) => [line.id, line]));
  const held = listWithheldTurns(turns);
  const missing = turns.filter(({ id }) => !lineOf.has(id) && !held.has(id)).map(({ id }) => id);
  if (missing.length > 0)
    throw new ValidationError(
      `${missing.length} of ${turns.length} turns have no concepts in ${file}, the first is ${missing[0]}; continue with ragpp graph extract`,
      { file, missing },
    );
  const isOther = hashTurnTexts(turns) !== header.corpus;
  return {
    concepts: turns.map((turn) => lineOf.get(turn.id)?.concepts ?? listConcepts(turn.text, readTitle(turn), 'phrases')),
    relations: turns.map(({ id }) => lineOf.get(id)?.triples.map(({ subject, object }) => [subject, object]) ?? []),
    remark: isOther ? `warning: ${file} was extracted from other turns or texts than these` : null,
  };
}
