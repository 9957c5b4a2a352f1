import { writeAtomic } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { openConfig } from '../../lab/config/config.ts';
import { type ArmReplay, type ReplayedMemory, replayArm } from '../../lab/run/arm-replay.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import { FailedCheck } from '../process/supervision.ts';

interface ReplayFlags {
  readonly arm: string;
  readonly queries?: number;
  readonly http?: true;
  readonly out?: string;
  readonly set: readonly string[];
  readonly dataset?: string;
  readonly backend?: BackendChoice;
  readonly cache: string;
}

function formatDifference({ difference }: ArmReplay): string {
  const { batch = null, live = null } = difference ?? {};
  return `run:    ${batch ?? 'no line'}\nmemory: ${live ?? 'no line'}\n`;
}

/** Rows of one request. */
const ROWS = 500;

/** A memory behind a service of this process, on a free port. */
async function reachOverHttp(memory: Memory): Promise<ReplayedMemory> {
  const { createMemoryService } = await import('../../memory/service/memory-service.ts');
  const { connectMemory } = await import('../../memory/client/connect-memory.ts');
  const service = createMemoryService({ memory, clock: Date.now, cacheFolder: null }, { token: null, mcp: null });
  const client = connectMemory(await service.app.listen({ host: '127.0.0.1', port: 0 }), { timeoutSeconds: 3600 });
  return {
    async addBatch(records) {
      for (let i = 0; i < records.length; i += ROWS) await client.addBatch(records.slice(i, i + ROWS));
    },
    ask: (question) => client.ask(question),
    async close() {
      client.close();
      await service.close();
      await memory.close();
    },
  };
}

/** @throws FailedCheck if the run files differ. */
export async function runMemoryReplay(path: string, flags: ReplayFlags): Promise<void> {
  const config = await openConfig(path, flags.set, flags.dataset ?? null);
  await useBackend(flags.backend ?? config.backend);
  const replayed = await replayArm(config, flags.arm, {
    ...{ cacheFolder: flags.cache, progress: createTerminalProgress() },
    ...(flags.queries !== undefined && { limit: flags.queries }),
    ...(flags.http && { reach: reachOverHttp }),
  });
  if (flags.out !== undefined) writeAtomic(flags.out, replayed.live);
  const { arm, queries, turns, difference } = replayed;
  printOut(`${arm}: ${queries} queries to a memory of up to ${turns} turns\n`);
  if (difference !== null) {
    printOut(`the run files differ, first at\n${formatDifference(replayed)}`);
    throw new FailedCheck('the memory does not answer as the run');
  }
  printOut('the run files of memory and run are equal, byte for byte\n');
}
