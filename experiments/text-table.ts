/** A table as texts: a heading and rows; the first column is of words, the others of figures. */
export interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Padded, so that the source reads as a table too. */
export function formatPipeTable({ head, rows }: TextTable): string {
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((cells) => cells[at]?.length ?? 0)));
  const formatPipeLine = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [formatPipeLine(head), formatPipeLine(rule), ...rows.map(formatPipeLine)].join('\n');
}
