import type { Command } from 'commander';
import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { readQrels } from '../../eval/trec/trec-files.ts';
import type { CachedValues } from '../../index/encoders/cached-texts.ts';
import type { LostEvidence, RemovalConservation, RemovalReport } from '../../memory/removal/remove-where.ts';
import type { RemovalSelection } from '../../memory/removal/selection.ts';
import type { Qrels } from '../../model/run.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/supervision.ts';
import { readArmJudgements } from './memory/folder-arm.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { printWarnings, runWithAskedMemory, runWithMemory } from './memory/open-folder.ts';
import { Proof } from './memory/prove-forgotten.ts';

interface RemoveFlags {
  readonly filter?: string;
  readonly conversation?: string;
  readonly user?: string;
  readonly dryRun?: true;
  readonly qrels?: string;
  readonly cache: string;
}

function readSelection({ filter, conversation, user }: RemoveFlags, command: Command): RemovalSelection {
  if (filter !== undefined) return { filter };
  if (conversation !== undefined) return { conversationId: conversation };
  if (user !== undefined) return { user };
  return command.error('error: give one of --filter, --conversation and --user', { exitCode: 2 });
}

/** A dataset that is missing by now does not keep records from being removed. */
async function readJudgements(folder: string, { qrels, cache }: RemoveFlags): Promise<Qrels | null> {
  if (qrels !== undefined) return readQrels(qrels);
  try {
    return await readArmJudgements(folder, cache, createTerminalProgress());
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    printError(`lost judgements are not counted: ${error.message}\n`);
    return null;
  }
}

const shorten = (value: number) => String(Number(value.toPrecision(4)));

function formatConservation({ before, after }: RemovalConservation): string {
  const rows = Object.entries({ before, after }).map(([when, metrics]) => {
    if (metrics === null) return [when, '-', '-', '-', '-'];
    const { count, magnitude, energy, information } = metrics;
    return [when, String(count), shorten(magnitude), shorten(energy), shorten(information)];
  });
  return `${alignColumns([['conservation', 'records', 'magnitude', 'energy', 'information (nats)'], ...rows])}\n`;
}

function formatEvidence({ relevant, removed, queries, reducedQueries, lostQueries }: LostEvidence): string {
  const named = lostQueries.length === 0 ? '' : `: ${lostQueries.join(', ')}`;
  return [
    `judgements: ${removed} of ${relevant} relevant records removed\n`,
    `queries: ${reducedQueries.length} of ${queries} have fewer relevant records, ${lostQueries.length} have none left${named}\n`,
  ].join('');
}

function formatCached({ vectors, tokens }: CachedValues): string {
  return vectors + tokens === 0 ? '' : `vectors in the cache: ${vectors} of texts, ${tokens} of tokens of texts\n`;
}

/** Each record that would be removed, and why. */
function formatRecords({ removed, derived }: RemovalReport): string {
  const rows = [
    ...removed.map((id) => [id, 'selected']),
    ...derived.map(({ id, memoryType }) => [id, `made of removed records (${memoryType})`]),
  ];
  return rows.length === 0 ? '' : `${alignColumns([['record', 'reason'], ...rows])}\n`;
}

function formatReport(report: RemovalReport, isDry: boolean): string {
  const { removed, derived, outcomes, logs, cached, conservation, evidence } = report;
  const changed = logs.filter(({ entries }) => entries > 0).map(({ log, entries }) => `${log} ${entries}`);
  return [
    `${isDry ? 'would be removed' : 'removed'}: ${removed.length} records, and ${derived.length} made of them\n`,
    isDry ? formatRecords(report) : '',
    `outcomes of these records: ${outcomes}\n`,
    changed.length === 0 ? '' : `entries of logs: ${changed.join(', ')}\n`,
    cached === null ? '' : formatCached(cached),
    formatConservation(conservation),
    evidence === null ? '' : formatEvidence(evidence),
  ].join('');
}

/** Removes records of a memory, or lists what would be removed. */
export async function runMemoryRemove(folder: string, flags: RemoveFlags, command: Command): Promise<void> {
  const selection = readSelection(flags, command);
  const { settings } = readMemoryFolder(folder);
  const judgements = await readJudgements(folder, flags);
  const isDry = flags.dryRun === true;
  const run = isDry ? runWithAskedMemory : runWithMemory;
  await run(folder, settings, async (memory) => {
    const report = await memory.removeWhere(selection, {
      dryRun: isDry,
      cacheFolder: flags.cache,
      ...(judgements && { judgements }),
    });
    printWarnings([...report.warnings, ...report.conservation.warnings]);
    printOut(`${formatReport(report, isDry)}${folder}: ${memory.size} records\n`);
  });
}

/** Looks for a text in a folder. @throws FailedCheck if something has it or cannot be read. */
export async function runMemoryProveForgotten(folder: string, canary: string): Promise<void> {
  const { files, bytes, rows, found, unread } = await Proof.search(folder, canary);
  for (const place of found) printOut(`found: ${place}\n`);
  for (const place of unread) printOut(`not read: ${place}\n`);
  const inTables = rows === 0 ? '' : `, ${rows} rows of tables`;
  printOut(`scanned: ${files} files, ${bytes} bytes${inTables}; found: ${found.length}, not read: ${unread.length}\n`);
  if (found.length + unread.length > 0) throw new FailedCheck('the text may be in the folder');
}
