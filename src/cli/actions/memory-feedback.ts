import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { printOut } from '../../core/terminal/progress.ts';
import { formatMinute } from '../../core/text/format.ts';
import { parse } from '../../core/validation/validation.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { detectUse, type MemoryUse, useDetectionOptions } from '../../memory/context/feedback/detect-use.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import { reinforce } from '../../memory/patterns/reinforce.ts';
import type { RetrievalLog } from '../../memory/retrievals/retrieval-log.ts';
import { readUseCount } from '../../model/turns/memory-fields.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { alignColumns } from '../process/columns.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runWithMemory } from './memory/open-folder.ts';
import { assertRetrievals, runWithRetrievals, trackRetrievals } from './memory/retrievals.ts';

interface UsedFlags {
  readonly question: string;
  readonly response: string;
  readonly set: readonly string[];
}

/** The records that an event retrieved, in its order; a log knows them by their hashes. */
function listRetrieved(memory: Memory, log: RetrievalLog, event: number, question: string): MemoryRecord[] {
  const found = log.events().find((one) => one.event === event);
  if (found === undefined)
    throw new ValidationError(`no such event: ${event}; pass the number that 'ragpp memory query --log' printed`, {
      event,
    });
  if (found.query !== log.hash('query', question))
    throw new ValidationError(`event ${event} was another question; pass the text that was asked`, { event });
  const byHash = new Map(Array.from(memory.records(), (record) => [log.hash('memory', record.id), record]));
  return found.retrieved.flatMap((hash) => byHash.get(hash) ?? []);
}

function formatUses(uses: readonly MemoryUse[], memory: Memory): string {
  const rows = uses.map(({ id, used, weight, words }) => {
    const count = String(readUseCount(memory.get(id) as MemoryRecord));
    return [id, used ? 'yes' : 'no', String(Number(weight.toPrecision(3))), count, words.join(' ') || '-'];
  });
  return alignColumns([['record', 'used', 'weight', 'uses', 'words in common'], ...rows]);
}

/** Finds which records a response uses, logs them and counts the use of each. */
export async function runMemoryUsed(folder: string, event: number, flags: UsedFlags): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  assertRetrievals(folder);
  const options = parse(useDetectionOptions, applyOverrides({}, flags.set), 'the options of --set');
  const { question } = flags;
  const response = readText(flags.response);
  await runWithMemory(folder, settings, (memory) =>
    runWithRetrievals(folder, async (log) => {
      const memories = listRetrieved(memory, log, event, question).map(({ id, context }) => ({ id, text: context }));
      const uses = detectUse({ question, response, memories }, options);
      const used = uses.filter((use) => use.used).map(({ id }) => id);
      await log.recordUse(event, used, Date.now());
      await reinforce(memory, used);
      printOut(`${formatUses(uses, memory)}\nused: ${used.length} of ${uses.length} records\n`);
    }),
  );
}

/** Lists the records that queries retrieve often. */
export async function runMemoryPatterns(folder: string, { min }: { readonly min: number }): Promise<void> {
  const { settings } = readMemoryFolder(folder);
  assertRetrievals(folder);
  await runWithMemory(folder, settings, (memory) =>
    runWithRetrievals(folder, async (log) => {
      const tracker = trackRetrievals(log);
      const byHash = new Map(Array.from(memory.records(), (record) => [log.hash('memory', record.id), record]));
      const rows = tracker.getConsolidationCandidates(min).flatMap(({ id: hash, retrievals, lastRetrieved }) => {
        const record = byHash.get(hash);
        if (record === undefined) return []; // it was removed
        return [[record.id, String(retrievals), String(readUseCount(record)), formatMinute(lastRetrieved)]];
      });
      const known = log.events().filter(({ used }) => used !== null).length;
      printOut(`${alignColumns([['record', 'retrievals', 'uses', 'last (UTC)'], ...rows])}\n`);
      printOut(`queries: ${tracker.queries}, use known of ${known}; records: ${rows.length} of ${memory.size}\n`);
    }),
  );
}
