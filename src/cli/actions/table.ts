import { writeAtomic } from '../../core/files/files.ts';
import { printError, printOut } from '../../core/terminal/terminal.ts';
import { type ChosenTableFormat, renderChosenTable } from '../../lab/report/tables/chosen-table.ts';
import { readRunFigures } from '../../lab/stored/run-figures.ts';

interface TableFlags {
  readonly arms?: string;
  readonly columns?: readonly string[];
  readonly digits?: number;
  readonly format: ChosenTableFormat;
  readonly out?: string;
}

export function printTable(folder: string, { arms, columns, digits, format, out }: TableFlags): void {
  const choice = { arms: arms ?? null, columns: columns ?? null, digits: digits ?? null };
  const table = renderChosenTable(readRunFigures(folder), choice, format);
  if (out === undefined) {
    printOut(table);
    return;
  }
  writeAtomic(out, table);
  printError(`table: ${out}\n`);
}
