import { alignLines } from './text-table.ts';

/** The separator of two columns of {@link alignLines}. */
const GAP = 2;

/** A column is made no narrower than this. */
const NARROWEST = 8;

/** A text as lines of at most `width` letters, broken between words, and within a word that is longer. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => cutIntoPieces(whole, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function cutIntoPieces(word: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(word.length / width));
  return Array.from({ length: count }, (_, at) => word.slice(at * width, (at + 1) * width));
}

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
