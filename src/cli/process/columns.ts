/** Aligns rows of cells by two spaces, a row a line; every column is left-aligned, the last one is not padded. */
export function alignColumns(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => cell.replaceAll('\n', '\\u000a')));
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows
    .map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] as number))).join('  '))
    .join('\n');
}
