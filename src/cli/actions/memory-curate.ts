import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ValidationError } from '../../core/errors/errors.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { RowFaults } from '../../data/jsonl/jsonl-rows.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { type CurationEntry, type CurationOptions, type Curator, openCurator } from '../../memory/curation/curator.ts';
import {
  type CurationEndpointOptions,
  createEndpointDecider,
  type EndpointDecider,
} from '../../memory/curation/endpoint-decider.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import { alignColumns } from '../process/columns.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runWithMemory, runWithOpened } from './memory/open-folder.ts';
import { type ReadFlags, readComplete, SKIP, selectNew } from './memory-import.ts';

interface CurateFlags extends ReadFlags {
  readonly decider: 'rules' | 'endpoint';
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyVariable?: string;
  readonly set: readonly string[];
}

/** How records are curated, by the flags. */
interface Curation {
  readonly options: CurationOptions;
  /** Null: by rules. */
  readonly endpoint: EndpointDecider | null;
}

/** @throws ConfigurationError for options of the service that do not exist; UnavailableError for a missing key. */
function readCuration({ decider, model, baseUrl, apiKeyVariable, set }: CurateFlags, command: Command): Curation {
  if (decider === 'rules') {
    if (model !== undefined || baseUrl !== undefined || apiKeyVariable !== undefined)
      command.error('error: --model, --base-url and --api-key-variable need --decider endpoint', { exitCode: 2 });
    return { options: applyOverrides({}, set), endpoint: null }; // `openCurator` checks them
  }
  if (model === undefined || baseUrl === undefined)
    command.error('error: --decider endpoint needs --model and --base-url', { exitCode: 2 });
  const service = { model, baseUrl, ...(apiKeyVariable === undefined ? {} : { apiKeyVariable }) };
  const { endpoint, ...options } = applyOverrides({ endpoint: service }, set);
  if (Object.hasOwn(options, 'rules'))
    command.error('error: the options of rules need --decider rules; leave out --set rules...', { exitCode: 2 });
  return { options, endpoint: createEndpointDecider(endpoint as CurationEndpointOptions) };
}

/** The log of the decisions about a memory, within its folder. */
const locateLog = (folder: string) => join(folder, 'curation');

async function runWithCurator<T>(
  memory: Memory,
  folder: string,
  { options, endpoint }: Curation,
  work: (curator: Curator) => Promise<T>,
): Promise<T> {
  const settings = endpoint === null ? {} : { decide: endpoint.decide };
  return runWithOpened(await openCurator(memory, locateLog(folder), options, settings), work);
}

/** A decision a row. The cosine is that of the record that it concerns. */
function formatEntries(entries: readonly CurationEntry[]): string {
  const rows = entries.map(({ id, operation, target, reason, neighbours }) => {
    const cosine = neighbours.find((neighbour) => neighbour.id === target)?.cosine;
    return [id, operation, target ?? '-', cosine === undefined ? '-' : String(Number(cosine.toPrecision(4))), reason];
  });
  return `${alignColumns([['record', 'operation', 'target', 'cosine', 'reason'], ...rows])}\n`;
}

const formatSize = (folder: string, { size }: Memory) => `${folder}: ${size} records\n`;

/** Curates the records of files in their order. Without `skip` every row is checked before the first decision. */
export async function runMemoryCurate(
  folder: string,
  files: readonly string[],
  flags: CurateFlags,
  command: Command,
): Promise<void> {
  const target = readMemoryFolder(folder);
  const curation = readCuration(flags, command);
  const faults = new RowFaults();
  const found = await readComplete(folder, files, target, flags, faults);
  await runWithMemory(folder, target.settings, async (memory) => {
    const chosen = selectNew(found, memory, faults, 'remove the row');
    const skipped = faults.settle(files.join(', '), flags.onDirtyRow, SKIP);
    const stage = createTerminalProgress()('records', chosen.length);
    const entries: CurationEntry[] = [];
    await runWithCurator(memory, folder, curation, async (curator) => {
      for (const { record } of chosen) stage.update(entries.push(await curator.curate(record)));
    });
    stage.finish(`${entries.length} curated`);
    for (const [kind, count] of Object.entries(skipped.toFacts())) printOut(`${kind}: ${count}\n`);
    if (curation.endpoint !== null) printOut(`${curation.endpoint.describeUse()}\n`);
    printOut(formatEntries(entries) + formatSize(folder, memory));
  });
}

/** Undoes the last decisions about the records of a memory, or all of them. */
export async function runMemoryUndo(
  folder: string,
  { count = 1, all = false }: { readonly count?: number; readonly all?: boolean },
): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  if (!existsSync(locateLog(folder)))
    throw new ValidationError(
      `memory has no log of curation: ${folder}; curate records with 'ragpp memory curate ${folder} FILE' first`,
      { folder },
    );
  await runWithMemory(folder, settings, (memory) =>
    runWithCurator(memory, folder, { options: {}, endpoint: null }, async (curator) => {
      const entries = curator.entries();
      const undone = await curator.undo(all ? 'all' : count);
      printOut(`undone: ${undone} of ${entries.length} decisions\n`);
      if (undone > 0) printOut(formatEntries(entries.slice(-undone)));
      printOut(formatSize(folder, memory));
    }),
  );
}
