import { formatDifference } from './difference-text.ts';
import type { LadderTable } from './table.ts';

/** A ladder as pipe tables: arms, differences from the baseline, what these decide. */
export function formatLadderMarkdown(table: LadderTable): string[] {
  const arms = formatRowsAsPipeTable(buildArmRows(table));
  if (!table.compared) return [arms];
  return [
    arms,
    `Differences from ${escapeMarkdown(table.baseline)}, with p:`,
    formatRowsAsPipeTable(buildDifferenceRows(table)),
    ...(table.decision.length === 0 ? [] : [table.decision.map(escapeMarkdown).join('\n')]),
  ];
}

function buildArmRows(table: LadderTable): string[][] {
  const rows = table.rows.map((row) => [
    escapeMarkdown(row.arm) + (row.isBaseline ? ' (baseline)' : ''),
    ...row.cells.map((cell) => [cell.value, cell.interval, cell.mark].filter(Boolean).join(' ')),
    String(row.holes),
  ]);
  return [['arm', ...table.metrics.map(escapeMarkdown), 'unjudged'], ...rows];
}

function buildDifferenceRows(table: LadderTable): string[][] {
  const rows = table.rows
    .filter((row) => !row.isBaseline)
    .map((row) => [
      escapeMarkdown(row.arm),
      ...row.cells.map(({ comparison, mark }) => (comparison === null ? '' : formatDifference(comparison, mark))),
    ]);
  return [['arm', ...table.metrics.map(escapeMarkdown)], ...rows];
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

/** Escapes a text for Markdown, in one line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\|<>*_`[\]&~]/g, '\\$&');
}
