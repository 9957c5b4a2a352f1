import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { shortenShown } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import type { RecordChange } from '../../memory/changes/change-log.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import {
  type ConsolidationOptions,
  type Consolidator,
  openConsolidator,
  type RetrievalCounts,
} from '../../memory/patterns/consolidator.ts';
import { showContext } from '../../model/turns/conversation.ts';
import { alignColumns } from '../process/columns.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runWithMemory, runWithOpened } from './memory/open-folder.ts';
import { assertRetrievals, runWithRetrievals, trackRetrievals } from './memory/retrievals.ts';

interface ConsolidateFlags {
  readonly dryRun?: true;
  readonly undo?: true;
  readonly set: readonly string[];
}

/** The log of what was consolidated, within the folder of its memory. */
const locateLog = (folder: string) => join(folder, 'consolidation');
const SHOWN = 60;

const nameChange = ({ before, after }: RecordChange) =>
  after === null ? 'removed' : before === null ? 'added' : 'replaced';

function formatChanges(changes: readonly RecordChange[]): string {
  const rows = changes.map((change) => {
    const record = (change.after ?? change.before) as NonNullable<RecordChange['after']>;
    const { id, metadata } = record;
    const episodes = String((metadata.episodes as readonly string[]).length);
    const { priorMean } = metadata;
    const prior = typeof priorMean === 'number' ? String(Number(priorMean.toPrecision(4))) : '-';
    return [nameChange(change), id, episodes, prior, shortenShown(showContext(record), SHOWN)];
  });
  return rows.length === 0 ? '' : `${alignColumns([['change', 'record', 'episodes', 'prior', 'text'], ...rows])}\n`;
}

async function runWithConsolidator(
  memory: Memory,
  folder: string,
  options: ConsolidationOptions,
  retrievals: RetrievalCounts | null,
  work: (consolidator: Consolidator) => Promise<void>,
): Promise<void> {
  const settings = retrievals === null ? {} : { retrievals };
  await runWithOpened(await openConsolidator(memory, locateLog(folder), options, settings), work);
}

/** How often each record was retrieved, if the options ask for it. */
async function readRetrievals(folder: string, { minRetrievals = 0 }: ConsolidationOptions) {
  if (!(minRetrievals > 0)) return null;
  assertRetrievals(folder);
  return runWithRetrievals(folder, async (log): Promise<RetrievalCounts> => {
    const tracker = trackRetrievals(log);
    return { getRetrievals: (id) => tracker.getRetrievals(log.hash('memory', id)) };
  });
}

async function consolidate(consolidator: Consolidator, isDry: boolean): Promise<string> {
  const stage = createTerminalProgress()('consolidation', 1);
  const changes = isDry ? await consolidator.plan() : await consolidator.consolidate();
  stage.finish();
  return `${isDry ? 'changes that would be made' : 'changes'}: ${changes.length}\n${formatChanges(changes)}`;
}

async function undo(consolidator: Consolidator): Promise<string> {
  const all = consolidator.consolidations();
  const undone = await consolidator.undo();
  return `undone: ${undone} of ${all.length} consolidations\n${formatChanges(all.slice(all.length - undone).flatMap(({ changes }) => changes))}`;
}

/** Writes summaries and procedures of a memory, says what would be written, or undoes the last time. */
export async function runMemoryConsolidate(folder: string, flags: ConsolidateFlags): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  if (flags.undo && !existsSync(locateLog(folder)))
    throw new ValidationError(`memory has no log of consolidation: ${folder}; there is nothing to undo`, { folder });
  const options: ConsolidationOptions = applyOverrides({}, flags.set); // `openConsolidator` checks them
  const retrievals = await readRetrievals(folder, options);
  if (!flags.undo) await useBackend('auto');
  await runWithMemory(folder, settings, (memory) =>
    runWithConsolidator(memory, folder, options, retrievals, async (consolidator) => {
      const said = flags.undo ? await undo(consolidator) : await consolidate(consolidator, flags.dryRun === true);
      printOut(`${said}${folder}: ${memory.size} records\n`);
    }),
  );
}
