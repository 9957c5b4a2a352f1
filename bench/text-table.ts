/** Columns under a header and a rule; the first `names` of them are aligned to the left, the others, numbers, to the right. */
export function formatTextTable(header: readonly string[], lines: readonly (readonly string[])[], names = 1): string {
  const widths = header.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]!.length)));
  const pad = (cells: readonly string[]) =>
    cells.map((cell, i) => (i < names ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  return [header, widths.map((width) => '-'.repeat(width)), ...lines].map((cells) => pad(cells).trimEnd()).join('\n');
}
