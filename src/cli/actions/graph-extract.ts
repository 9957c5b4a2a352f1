import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { readText, writeAtomic } from '../../core/files/files.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { loadDataset } from '../../data/registry.ts';
import {
  appendConceptLines,
  type ConceptFileHeader,
  type ConceptLine,
  formatConceptHeader,
  hashTurnTexts,
  readConceptFile,
} from '../../index/graph/extraction/concept-file.ts';
import { extractConcepts } from '../../index/graph/extraction/extract-concepts.ts';
import { extractionOptions, PROMPTS_HASH } from '../../index/graph/extraction/extraction-requests.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { openConfigDataset } from '../../lab/config/config.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** The meaning of each key of a header. */
const ORIGINS = { model: 'by another model', prompts: 'with other prompts', corpus: 'from other turns' } as const;

/**
 * Begins a file of concepts of turns by a model, or opens one that an earlier call began. An unfinished last line,
 * which a killed process leaves, is removed.
 *
 * @returns the lines that exist.
 * @throws ValidationError for a file of other turns, by another model or with other prompts, and as
 *   {@link readConceptFile}; StorageError.
 */
function openConceptFile(path: string, model: string, turns: readonly Turn[]): readonly ConceptLine[] {
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

interface ExtractFlags {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKeyVariable?: string;
  readonly batchSize?: number;
  readonly limitTurns?: number;
  readonly out: string;
  readonly service: readonly string[];
  readonly set: readonly string[];
  readonly dataset?: string;
  readonly cache: string;
}

function readService({ baseUrl, model, apiKeyVariable, batchSize, service }: ExtractFlags) {
  const typed = { baseUrl, model, ...(apiKeyVariable && { apiKeyVariable }), ...(batchSize && { batchSize }) };
  return parse(extractionOptions, applyOverrides(typed, service), 'the options of the service');
}

export async function runGraphExtract(config: string, flags: ExtractFlags): Promise<void> {
  const { out, set, dataset: chosen = null, cache, limitTurns } = flags;
  const options = readService(flags);
  const progress = createTerminalProgress();
  const source = await openConfigDataset(config, set, chosen);
  const { turns } = (await loadDataset(source, { cacheFolder: join(cache, 'datasets'), progress })).corpus;
  const begun = openConceptFile(out, options.model, turns);
  const { lines, withheld, leftOut, use } = await extractConcepts(turns, options, {
    begun,
    ...(limitTurns && { limit: limitTurns }),
    progress,
    onExtracted: (added) => appendConceptLines(out, added),
  });
  const triples = lines.reduce((sum, line) => sum + line.triples.length, 0);
  printOut(`${out}: ${lines.length} of ${turns.length} turns with ${triples} triples by ${options.model}\n`);
  if (withheld > 0) printOut(`withheld: ${withheld} sensitive turns, which were not sent\n`);
  if (leftOut > 0)
    printOut(`left out: ${leftOut} triples with a part that has no letter or more than 120 characters\n`);
  const open = turns.length - lines.length - withheld;
  if (open > 0) printOut(`open: ${open} turns; continue with the same command and a higher --limit-turns\n`);
  printOut(`${use}\n`);
}
