import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readFolder } from '../../core/files/files.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { computeDrift, type MetricsMoment, measureOverTime } from '../../memory/conservation/metrics-over-time.ts';
import { readSavedPosition } from '../../memory/engine/index-folder.ts';
import {
  listObserved,
  mergeOutcomeStatistics,
  updateOutcomeStatistics,
} from '../../memory/outcomes/outcome-statistics.ts';
import type { MemoryStore } from '../../memory/store/memory-store.ts';
import { openStore } from '../../memory/store/open-store.ts';
import { type RepairReport, repairStore } from '../../memory/store/repair-store.ts';
import type { AttributeValue } from '../../model/turns/memory-fields.ts';
import { EMPTY_OUTCOME_STATISTICS, type MemoryRecord, type OutcomeStatistics } from '../../model/turns/turn.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/supervision.ts';
import { assertMemory, copySettings, type MemorySettings, readMemoryFolder } from './memory/memory-folder.ts';
import { runWithMemory, runWithOpened } from './memory/open-folder.ts';

function listLosses({ lostOperations, lostRecords, lostOutcomes, damagedFiles }: RepairReport): string[] {
  return [
    ...lostOperations.map(({ from, to }) => `lost: changes ${from} to ${to ?? 'the end'}`),
    ...(lostRecords === 0 ? [] : [`lost: ${lostRecords} records of the snapshot`]),
    ...(lostOutcomes === 0 ? [] : [`lost: ${lostOutcomes} outcomes of lost records`]),
    ...damagedFiles.map((path) => `damaged: ${path}`),
  ];
}

/** @throws FailedCheck if something was lost. */
export async function runMemoryRepair(folder: string, { into }: { readonly into: string }): Promise<void> {
  assertMemory(folder);
  const report = await repairStore(folder, into, createTerminalProgress());
  copySettings(folder, into);
  const losses = listLosses(report);
  printOut(`saved: ${report.records} records in ${into}\n${losses.map((line) => `${line}\n`).join('')}`);
  if (losses.length > 0) throw new FailedCheck('the repair lost something');
  printOut('nothing was lost\n');
}

interface AttributeCount {
  readonly name: string;
  readonly type: string;
  readonly records: number;
}

/** What `ragpp memory stats` reports. */
interface MemoryStats {
  readonly records: number;
  readonly dimension: number | null;
  /** The number of changes so far. */
  readonly sequence: number;
  readonly encoder: string | null;
  readonly bytes: Readonly<Record<string, number>>;
  readonly indexes: readonly { readonly name: string; readonly index: string; readonly saved: string }[];
  readonly attributes: readonly AttributeCount[];
  /** Statistics of the field `outcome`. */
  readonly outcomes: OutcomeStatistics;
  /** Observed later, of all records. */
  readonly feedback: OutcomeStatistics;
  /** The metrics of conservation as the records grew, the last moment with all records. */
  readonly conservation: readonly MetricsMoment[];
}

/** Moments of the metrics over time, and the last of these, whose drift is printed. */
const [MOMENTS, RECENT] = [100, 10];

function measureBytes(path: string): number {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readFolder(path).reduce((sum, name) => sum + measureBytes(join(path, name)), 0);
}

function namePart(name: string): string {
  if (name.endsWith('.journal')) return 'journal';
  if (name.startsWith('snapshot-')) return 'snapshot';
  return name === 'indexes' ? 'indexes' : 'other';
}

function measureParts(folder: string): Record<string, number> {
  const bytes: Record<string, number> = { journal: 0, snapshot: 0, indexes: 0, other: 0 };
  for (const name of readFolder(folder)) {
    const part = namePart(name);
    bytes[part] = (bytes[part] ?? 0) + measureBytes(join(folder, name));
  }
  return bytes;
}

function nameType(value: AttributeValue): string {
  return Array.isArray(value) ? 'list of strings' : typeof value;
}

function countAttributes(store: MemoryStore): AttributeCount[] {
  const counts = new Map<string, { name: string; type: string; records: number }>();
  for (const { metadata } of store.records())
    for (const [name, value] of Object.entries(metadata)) {
      const type = nameType(value);
      const key = JSON.stringify([name, type]);
      const count = counts.get(key) ?? { name, type, records: 0 };
      count.records++;
      counts.set(key, count);
    }
  return [...counts.keys()].sort().map((key) => counts.get(key) as AttributeCount);
}

function describeSaved(folder: string, settings: MemorySettings, store: MemoryStore): MemoryStats['indexes'] {
  return Object.entries(settings.indexes).map(([name, options]) => {
    const saved = readSavedPosition(folder, name, options);
    if (saved === null || store.holds(saved) === false) return { name, index: options.index, saved: 'not saved' };
    const isCurrent = saved.sequence === store.sequence;
    return { name, index: options.index, saved: isCurrent ? 'saved' : `saved after change ${saved.sequence}` };
  });
}

function collectStats(folder: string, settings: MemorySettings, store: MemoryStore): MemoryStats {
  let outcomes = EMPTY_OUTCOME_STATISTICS;
  let feedback = EMPTY_OUTCOME_STATISTICS;
  for (const { outcome, stats } of store.records()) {
    if (outcome !== null) outcomes = updateOutcomeStatistics(outcomes, outcome);
    feedback = mergeOutcomeStatistics(feedback, stats);
  }
  return {
    records: store.size,
    dimension: store.dimension ?? settings.dimension ?? null,
    sequence: store.sequence,
    encoder: settings.encoder?.encoder ?? null,
    bytes: measureParts(folder),
    indexes: describeSaved(folder, settings, store),
    attributes: countAttributes(store),
    outcomes,
    feedback,
    conservation: measureOverTime(store, store.dimension ?? 0, settings.conservation.halfLifeHours, MOMENTS),
  };
}

/** Count, mean and bounds as a line. */
function formatOutcomes({ count, mean, min, max }: OutcomeStatistics): string {
  if (count === 0) return '0';
  const [average, low, high] = [mean, min as number, max as number].map((value) => Number(value.toPrecision(4)));
  return `${count}, mean ${average}, from ${low} to ${high}`;
}

const formatNumber = (value: number) => String(Number(value.toPrecision(4)));

/** The metrics of all records, and the drift since most of them were there; no rows without salience. */
function formatConservation(moments: readonly MetricsMoment[]): string[][] {
  const last = moments.at(-1);
  if (last === undefined || last.metrics === null) return [];
  const { count, magnitude, energy, coherence, information } = last.metrics;
  const before = moments.at(-1 - RECENT) ?? moments[0];
  const drift = computeDrift(before, last);
  const added = count - (before?.metrics?.count ?? 0);
  return [
    ['magnitude', formatNumber(magnitude)],
    ['energy', `${formatNumber(energy)}, coherence ${formatNumber(coherence)}`],
    ['information', `${formatNumber(information)} nats of at most ${formatNumber(Math.log(count))}`],
    ['drift', drift === null ? 'not known' : `${formatNumber(drift)} by the newest ${added} records`],
  ];
}

function formatStats(stats: MemoryStats): string {
  const { records, dimension, sequence, encoder, bytes, indexes, attributes, outcomes, feedback, conservation } = stats;
  const rows = [
    ['records', String(records)],
    ['dimension', String(dimension ?? 'not known')],
    ['changes', String(sequence)],
    ['encoder', encoder ?? 'not known'],
    ...Object.entries(bytes).map(([part, size]) => [`bytes of ${part}`, String(size)]),
    ...indexes.map(({ name, index, saved }) => [`index ${name}`, `${index}, ${saved}`]),
    ['outcomes', formatOutcomes(outcomes)],
    ['later feedback', formatOutcomes(feedback)],
    ...formatConservation(conservation),
    ...attributes.map(({ name, type, records: count }) => [`attribute ${name}`, `${type}, in ${count} records`]),
  ];
  return alignColumns(rows);
}

interface StatsFlags {
  readonly format: 'text' | 'json';
  readonly figure?: string;
}

export async function runMemoryStats(folder: string, { format, figure }: StatsFlags): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  const write = figure === undefined ? null : (await import('./memory/conservation-figure.ts')).openFigure(figure);
  await runWithOpened(await openStore(folder, { readOnly: true }), async (store) => {
    const stats = collectStats(folder, settings, store);
    printOut(`${format === 'json' ? JSON.stringify(stats, null, 2) : formatStats(stats)}\n`);
    write?.(folder, stats.conservation);
  });
}

/** Records an outcome of a record that was observed later. */
export async function runMemoryOutcome(
  folder: string,
  { id, value }: { readonly id: string; readonly value: number },
): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  await runWithMemory(folder, settings, async (memory) => {
    await memory.updateStats(id, value);
    const observed = listObserved(memory.get(id) as MemoryRecord, 'both');
    printOut(`${id}: outcomes ${formatOutcomes(observed.reduce(mergeOutcomeStatistics, EMPTY_OUTCOME_STATISTICS))}\n`);
  });
}
