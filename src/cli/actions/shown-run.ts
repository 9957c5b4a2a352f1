import { join } from 'node:path';
import { printError, printOut } from '../../core/terminal/progress.ts';
import type { FoundRun } from '../../lab/stored/finished-record.ts';

/** Prints what the command of a finished run has printed, and of when it is. */
export function printFoundRun({ folder, shown, started }: FoundRun): void {
  printOut(`${shown}\nreport: ${join(folder, 'report.html')}\n`);
  const date = started.toISOString().slice(0, 19);
  printError(`shown from the run of ${date}Z: same config, data, backend and code; --again runs it again\n`);
}
