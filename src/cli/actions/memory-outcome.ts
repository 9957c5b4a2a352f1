import { printOut } from '../../core/terminal/terminal.ts';
import { listObserved } from '../../memory/outcomes/outcome-pool.ts';
import { mergeOutcomeStatistics } from '../../memory/outcomes/outcome-statistics.ts';
import { EMPTY_OUTCOME_STATISTICS, type MemoryRecord } from '../../model/turns/memory-record.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runWithMemory } from './memory/open-folder.ts';
import { formatOutcomes } from './memory-stats.ts';

/** Records an outcome of a record that was observed later. */
export async function runMemoryOutcome(
  folder: string,
  { id, value }: { readonly id: string; readonly value: number },
): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  await runWithMemory(folder, settings, async (memory) => {
    await memory.updateStats(id, value);
    const observed = listObserved(memory.get(id) as MemoryRecord, 'both');
    printOut(`${id}: outcomes ${formatOutcomes(observed.reduce(mergeOutcomeStatistics, EMPTY_OUTCOME_STATISTICS))}\n`);
  });
}
