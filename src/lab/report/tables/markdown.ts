import type { ExperimentResult } from '../../measure/result.ts';
import { formatDifference } from './difference-text.ts';
import { listCurves, listEvidenceRows } from './evidence-table.ts';
import { describeLatency, listLatencyRows } from './latency-table.ts';
import { describeStructureReach, listStructureRows, SURVIVES } from './structure-table.ts';
import { buildLadderTable, type LadderTable } from './table.ts';

/** The ladder for README and results pages: the arms, their differences from the baseline, the legend, and what made the numbers. */
export function renderMarkdown(result: ExperimentResult): string {
  const table = buildLadderTable(result);
  const parts = [
    ...formatLadderMarkdown(table),
    ...buildStructureLines(result),
    table.legend.map(escapeMarkdown).join('\n'),
    ...(table.notes.length === 0 ? [] : [table.notes.map((note) => `* ${escapeMarkdown(note)}`).join('\n')]),
    ...buildEvidenceLines(result),
    ...buildLatencyLines(result),
    formatProvenance('Experiment', result),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A ladder as pipe tables: arms, differences from the baseline, what these decide. @param rowsAre the first heading */
export function formatLadderMarkdown(table: LadderTable, rowsAre = 'arm'): string[] {
  const arms = formatRowsAsPipeTable(buildArmRows(table, rowsAre));
  if (!table.compared) return [arms];
  return [
    arms,
    `Differences from ${escapeMarkdown(table.baseline)}, with p:`,
    formatRowsAsPipeTable(buildDifferenceRows(table, rowsAre)),
    ...(table.decision.length === 0 ? [] : [table.decision.map(escapeMarkdown).join('\n')]),
  ];
}

/** The curves of the arms that have one. */
function buildEvidenceLines({ arms }: ExperimentResult): string[] {
  if (listCurves(arms).length === 0) return [];
  const rows = listEvidenceRows(arms).map(([arm = '', ...figures]) => [escapeMarkdown(arm), ...figures]);
  return [
    'Evidence within tokens; the area over the logarithm of tokens, and the area if the relevant turns of the ranking were packed first:',
    formatRowsAsPipeTable(rows),
  ];
}

/** The times of the arms that were timed. */
function buildLatencyLines(result: ExperimentResult): string[] {
  if (result.arms.every(({ latency }) => latency === null)) return [];
  const note = describeLatency(result);
  const rows = listLatencyRows(result.arms).map((row) => row.map(escapeMarkdown));
  return ['Milliseconds a query by component:', formatRowsAsPipeTable(rows), ...(note === null ? [] : [note])];
}

function buildArmRows(table: LadderTable, rowsAre: string): string[][] {
  const rows = table.rows.map((row) => [
    escapeMarkdown(row.arm) + (row.isBaseline ? ' (baseline)' : ''),
    ...row.cells.map((cell) => [cell.value, cell.interval, cell.mark].filter(Boolean).join(' ')),
    String(row.holes),
  ]);
  return [[rowsAre, ...table.metrics.map(escapeMarkdown), 'unjudged'], ...rows];
}

function buildDifferenceRows(table: LadderTable, rowsAre: string): string[][] {
  const rows = table.rows
    .filter((row) => !row.isBaseline)
    .map((row) => [
      escapeMarkdown(row.arm),
      ...row.cells.map(({ comparison, mark }) => (comparison === null ? '' : formatDifference(comparison, mark))),
    ]);
  return [[rowsAre, ...table.metrics.map(escapeMarkdown)], ...rows];
}

/** The arms against their null controls; empty without controls. */
function buildStructureLines(result: ExperimentResult): string[] {
  const rows = listStructureRows(result).map(({ arm, control, cells }) => [
    escapeMarkdown(arm),
    control,
    ...cells.map(({ text }) => text),
  ]);
  if (rows.length === 0) return [];
  const head = ['arm', 'control', ...result.metrics.map(escapeMarkdown)];
  return [
    'Arms minus their null controls, with p:',
    formatRowsAsPipeTable([head, ...rows]),
    escapeMarkdown([SURVIVES, ...describeStructureReach(result)].join(' ')),
  ];
}

/** Padded, so that the source reads as a table too. The first row is the heading. */
export function formatRowsAsPipeTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const formatMarkdownLine = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [
    formatMarkdownLine(head),
    formatMarkdownLine(widths.map((width) => '-'.repeat(width))),
    ...body.map(formatMarkdownLine),
  ].join('\n');
}

/** The provenance of the numbers. @param kind the kind of run */
export function formatProvenance(
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
