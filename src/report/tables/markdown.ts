import type { ExperimentResult } from '../../experiment/measure/result.ts';
import { differenceText } from './difference-text.ts';
import { latencyNote, latencyRows } from './latency-table.ts';
import { SURVIVES, structureReach, structureRows } from './structure-table.ts';
import type { LadderTable } from './table.ts';
import { ladderTable } from './table.ts';

/** The ladder for README and results pages: the arms, their differences from the baseline, the legend, and what made the numbers. */
export function renderMarkdown(result: ExperimentResult): string {
  const table = ladderTable(result);
  const parts = [
    ...ladderMarkdown(table),
    ...structureOf(result),
    table.legend.map(escapeMarkdown).join('\n'),
    ...(table.notes.length === 0 ? [] : [table.notes.map((note) => `* ${escapeMarkdown(note)}`).join('\n')]),
    ...latencyOf(result),
    provenance('Experiment', result),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A ladder as pipe tables: the arms, and their differences from the baseline. @param rowsAre the heading of the first column */
export function ladderMarkdown(table: LadderTable, rowsAre = 'arm'): string[] {
  const arms = pipeTable(armsOf(table, rowsAre));
  if (!table.compared) return [arms];
  return [
    arms,
    `Differences from ${escapeMarkdown(table.baseline)}, with p:`,
    pipeTable(differencesOf(table, rowsAre)),
  ];
}

/** The times of the arms that were timed. */
function latencyOf(result: ExperimentResult): string[] {
  if (result.arms.every(({ latency }) => latency === null)) return [];
  const note = latencyNote(result);
  const rows = latencyRows(result.arms).map((row) => row.map(escapeMarkdown));
  return ['Milliseconds a query by component:', pipeTable(rows), ...(note === null ? [] : [note])];
}

function armsOf(table: LadderTable, rowsAre: string): string[][] {
  const rows = table.rows.map((row) => [
    escapeMarkdown(row.arm) + (row.isBaseline ? ' (baseline)' : ''),
    ...row.cells.map((cell) => [cell.value, cell.interval, cell.mark].filter(Boolean).join(' ')),
    String(row.holes),
  ]);
  return [[rowsAre, ...table.metrics.map(escapeMarkdown), 'unjudged'], ...rows];
}

function differencesOf(table: LadderTable, rowsAre: string): string[][] {
  const rows = table.rows
    .filter((row) => !row.isBaseline)
    .map((row) => [
      escapeMarkdown(row.arm),
      ...row.cells.map(({ comparison, mark }) => (comparison === null ? '' : differenceText(comparison, mark))),
    ]);
  return [[rowsAre, ...table.metrics.map(escapeMarkdown)], ...rows];
}

/** The arms against their null controls; empty without controls. */
function structureOf(result: ExperimentResult): string[] {
  const rows = structureRows(result).map(({ arm, control, cells }) => [
    escapeMarkdown(arm),
    control,
    ...cells.map(({ text }) => text),
  ]);
  if (rows.length === 0) return [];
  const head = ['arm', 'control', ...result.metrics.map(escapeMarkdown)];
  return [
    'Arms minus their null controls, with p:',
    pipeTable([head, ...rows]),
    escapeMarkdown([SURVIVES, ...structureReach(result)].join(' ')),
  ];
}

/** Padded, so that the source reads as a table too. The first row is the heading. */
export function pipeTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

/** The provenance of the numbers. @param kind the kind of run */
export function provenance(
  kind: string,
  { name, hash, dataset, environment }: Pick<ExperimentResult, 'name' | 'hash' | 'dataset' | 'environment'>,
): string {
  const { version, commit, backend, machine, seed, command } = environment;
  return escapeMarkdown(
    `${kind} ${name} (${hash}) on ${dataset.name} ${dataset.split}; version ${version}, commit ${commit}, backend ${backend}, ` +
      `${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`,
  );
}

/** Escapes a text for Markdown, in one line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\|<>*_`[\]&~]/g, '\\$&');
}
