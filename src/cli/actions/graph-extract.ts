import { join } from 'node:path';
import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { parse } from '../../core/validation/validation.ts';
import { loadDataset } from '../../data/registry.ts';
import { openConceptFile } from '../../index/graph/extraction/begun-file.ts';
import { appendConceptLines } from '../../index/graph/extraction/concept-file.ts';
import { extractConcepts } from '../../index/graph/extraction/extract-concepts.ts';
import { extractionOptions } from '../../index/graph/extraction/extraction-options.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { openConfigDataset } from '../../lab/config/config.ts';

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
