import { existsSync } from 'node:fs';
import { ValidationError } from '../../../core/errors/errors.ts';
import { readText, writeAtomic } from '../../../core/files/files.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import {
  type ConceptFileHeader,
  type ConceptLine,
  formatConceptHeader,
  hashTurnTexts,
  readConceptFile,
} from './concept-file.ts';
import { PROMPTS_HASH } from './extraction-requests.ts';

/** What the keys of a header say of a file. */
const ORIGINS = { model: 'by another model', prompts: 'with other prompts', corpus: 'from other turns' } as const;

/**
 * Begins a file of concepts of turns by a model, or opens one that an earlier call began. An unfinished last line, which a killed process leaves, is removed.
 *
 * @returns the lines that exist.
 * @throws ValidationError for a file of other turns, by another model or with other prompts, and as {@link readConceptFile}; StorageError.
 */
export function openConceptFile(path: string, model: string, turns: readonly Turn[]): readonly ConceptLine[] {
  const corpus = hashTurnTexts(turns);
  const header: ConceptFileHeader = { format: 'ragpp-concepts', version: 1, model, prompts: PROMPTS_HASH, corpus };
  if (!existsSync(path)) writeAtomic(path, formatConceptHeader(header));
  const text = readText(path);
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (!whole.startsWith(`{"format":"${header.format}"`))
    throw new ValidationError(`file is none of concepts: ${path}; name another file`, { path });
  if (whole !== text) writeAtomic(path, whole);
  const begun = readConceptFile(path);
  for (const key of ['model', 'prompts', 'corpus'] as const)
    if (begun.header[key] !== header[key])
      throw new ValidationError(`file was extracted ${ORIGINS[key]}: ${path}; name another file`, {
        path,
        expected: header[key],
        found: begun.header[key],
      });
  return begun.lines;
}
