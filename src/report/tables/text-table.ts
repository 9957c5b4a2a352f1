import type { ExperimentResult } from '../../experiment/measure/result.ts';
import type { LadderRow, LadderTable } from './table.ts';
import { ladderTable } from './table.ts';

/** A column as it is printed: its heading and one text a row, all of one width. */
type Column = readonly string[];

/**
 * The ladder for a terminal: every metric with its interval, the first one also with its difference from the baseline and the corrected p. Columns that
 * do not fit into `width` follow in a further block under the same arm names.
 */
export function renderText(result: ExperimentResult, width = 120): string {
  return ladderText(ladderTable(result), width);
}

/** A ladder as {@link renderText} prints it. @param rowsAre the heading of the first column */
export function ladderText(table: LadderTable, width = 120, rowsAre = 'arm'): string {
  const arms = aligned([rowsAre, ...table.rows.map((row) => row.arm)], 'left');
  const blocks = blocksOf(groupsOf(table), width - (arms[0] as string).length);
  const printed = blocks.map((columns) => linesOf([arms, ...columns]).join('\n'));
  const notes = table.notes.length === 0 ? [] : [table.notes.join('\n')];
  return `${[...printed, table.legend.join('\n'), ...notes].join('\n\n')}\n`;
}

/** Columns that stay together: a metric, and for the first one what compares it with the baseline. */
function groupsOf(table: LadderTable): Column[][] {
  return table.metrics.map((metric, at) => {
    const value = metricColumn(metric, table.rows, at);
    return at === 0 && table.compared ? [value, ...comparisonColumns(table.rows)] : [value];
  });
}

function metricColumn(metric: string, rows: readonly LadderRow[], at: number): Column {
  const cells = rows.map((row) => row.cells[at] as LadderRow['cells'][number]);
  const intervals = aligned(
    cells.map((cell) => cell.interval),
    'left',
  );
  const values = aligned(
    cells.map((cell) => cell.value),
    'right',
  );
  return aligned([metric, ...cells.map((cell, row) => `${values[row]} ${intervals[row]} ${cell.mark || ' '}`)], 'left');
}

function comparisonColumns(rows: readonly LadderRow[]): Column[] {
  const first = rows.map((row) => row.cells[0]?.comparison);
  return [
    aligned(['Δ', ...first.map((comparison) => comparison?.difference ?? '—')], 'right'),
    aligned(['p', ...first.map((comparison) => comparison?.p ?? '—')], 'right'),
  ];
}

function blocksOf(groups: readonly Column[][], room: number): Column[][] {
  const blocks: Column[][] = [];
  let left = 0;
  for (const group of groups) {
    const needed = group.reduce((sum, column) => sum + (column[0] as string).length + 2, 0);
    if (blocks.length === 0 || needed > left) {
      blocks.push([]);
      left = room;
    }
    blocks.at(-1)?.push(...group);
    left -= needed;
  }
  return blocks;
}

function linesOf(columns: readonly Column[]): string[] {
  const lines = (columns[0] as Column).map((_, row) => columns.map((column) => column[row]).join('  '));
  const rule = '─'.repeat(Math.max(...lines.map((line) => line.length)));
  return [lines[0] as string, rule, ...lines.slice(1)].map((line) => line.trimEnd());
}

function aligned(texts: readonly string[], side: 'left' | 'right'): string[] {
  const width = Math.max(...texts.map((text) => text.length));
  return texts.map((text) => (side === 'left' ? text.padEnd(width) : text.padStart(width)));
}

/** Rows with the heading first as lines, a rule below the heading, every column as wide as it must be. */
export function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const [heading = []] = rows;
  return linesOf(
    heading.map((_, at) =>
      aligned(
        rows.map((row) => row[at] ?? ''),
        'left',
      ),
    ),
  );
}
