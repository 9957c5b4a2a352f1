import { writeAtomic } from '../../core/files.ts';
import { printError, printOut } from '../../core/terminal.ts';
import { readRunFigures } from '../../experiment/stored/run-figures.ts';
import { type ChosenTableFormat, renderChosenTable } from '../../report/tables/chosen-table.ts';

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
