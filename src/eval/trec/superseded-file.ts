import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { parseLines } from '../../core/files/text-lines.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Superseded } from '../../model/run.ts';
import { assertId } from './trec-files.ts';

/** The name of a file of superseded documents: beside judgements of a dataset, and in the folder of a run. */
export const SUPERSEDED_FILE = 'superseded.tsv';

/**
 * Superseded documents as text: lines of `query document replacement`, with tabs between them. The document states
 * something that no longer holds at the moment of the query, and the replacement states what holds.
 *
 * @throws ValidationError for an id with white space.
 */
export function formatSuperseded(superseded: Superseded): string {
  const lines: string[] = [];
  for (const [queryId, documents] of superseded)
    for (const [id, replacement] of documents) {
      assertId('query id', queryId);
      assertId('document id', id);
      assertId('id of a replacement', replacement);
      lines.push(`${queryId}\t${id}\t${replacement}\n`);
    }
  return lines.join('');
}

/**
 * Reads what {@link formatSuperseded} writes; spaces are accepted in place of tabs.
 *
 * @param source what errors call the text, usually its path.
 * @throws ValidationError naming the line, for a wrong number of columns, a repeated document, and one that replaces
 *   itself.
 */
export function parseSuperseded(text: string, source: string): Superseded {
  const table = new Map<string, Map<string, string>>();
  for (const { at, fields } of parseLines(text, source, 3)) {
    const [queryId, id, replacement] = fields as [string, string, string];
    const documents = getOrCompute(table, queryId, () => new Map<string, string>());
    const facts = { at, queryId, id };
    if (id === replacement)
      throw new ValidationError(`document replaces itself at ${at}: ${id}; name the one that states what holds`, facts);
    if (documents.has(id))
      throw new ValidationError(`query ${queryId} repeats a document at ${at}: ${id}; remove the line`, facts);
    documents.set(id, replacement);
  }
  return table;
}

/** Reads a file of superseded documents, see {@link parseSuperseded}. @throws ValidationError as it does. */
export function readSuperseded(path: string): Superseded {
  return parseSuperseded(readText(path), path);
}
