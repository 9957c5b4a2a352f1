import type { Comparison } from '../../measure/result.ts';
import { MARKS } from './legend.ts';
import { buildLadderComparison, type LadderComparison, type LadderTable } from './table.ts';

/**
 * A difference in one cell: `+.034 [+.02, +.05], p .004 ▲`, without brackets if there is no interval.
 *
 * @param mark of the verdict
 */
export function formatDifference({ difference, interval, p }: LadderComparison, mark: string): string {
  return [`${[difference, interval].filter(Boolean).join(' ')},`, `p ${p}`, mark].filter(Boolean).join(' ');
}

/**
 * Formats a comparison as {@link formatDifference} does.
 *
 * @param level of the interval; a corrected p below 1 - level decides
 */
export function formatComparison(comparison: Comparison, level: number): string {
  return formatDifference(buildLadderComparison(comparison, 1 - level), MARKS[comparison.verdict]);
}

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
