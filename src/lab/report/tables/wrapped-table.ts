import { alignLines } from './text-table.ts';
import { wrapText } from './wrap-text.ts';

/** The separator of two columns of {@link alignLines}. */
const GAP = 2;

/** A column is made no narrower than this. */
const NARROWEST = 8;

/** Widths of columns whose sum is at most `room`, if that can be: the widest give way. */
function narrowWidths(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** A row as rows of a line each. */
function splitCellLines(cells: readonly (readonly string[])[]): string[][] {
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => cells.map((lines) => lines[at] ?? ''));
}

/** Rows as {@link alignLines} prints them, the cells of wide columns in several lines, so that no line is longer than `width`. Headings stay in one line. */
export function formatWrappedTable(rows: readonly (readonly string[])[], width: number): string[] {
  const [heading = [], ...others] = rows;
  const natural = heading.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const widths = narrowWidths(natural, width - GAP * (heading.length - 1));
  const lines = others.flatMap((row) => splitCellLines(row.map((cell, at) => wrapText(cell, widths[at] as number))));
  return alignLines([heading, ...lines]);
}
