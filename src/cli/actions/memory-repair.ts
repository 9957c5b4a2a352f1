import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { type RepairReport, repairStore } from '../../memory/store/repair-store.ts';
import { FailedCheck } from '../process/failed-check.ts';
import { assertMemory, copySettings } from './memory/memory-folder.ts';

function listLosses({ lostOperations, lostRecords, lostOutcomes, damagedFiles }: RepairReport): string[] {
  return [
    ...lostOperations.map(({ from, to }) => `lost: changes ${from} to ${to ?? 'the end'}`),
    ...(lostRecords === 0 ? [] : [`lost: ${lostRecords} records of the snapshot`]),
    ...(lostOutcomes === 0 ? [] : [`lost: ${lostOutcomes} outcomes of lost records`]),
    ...damagedFiles.map((path) => `damaged: ${path}`),
  ];
}

/** @throws FailedCheck if something was lost. */
export async function runMemoryRepair(folder: string, { into }: { readonly into: string }): Promise<void> {
  assertMemory(folder);
  const report = await repairStore(folder, into, createTerminalProgress());
  copySettings(folder, into);
  const losses = listLosses(report);
  printOut(`saved: ${report.records} records in ${into}\n${losses.map((line) => `${line}\n`).join('')}`);
  if (losses.length > 0) throw new FailedCheck('the repair lost something');
  printOut('nothing was lost\n');
}
