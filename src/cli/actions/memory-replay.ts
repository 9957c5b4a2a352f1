import { writeAtomic } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { openConfig } from '../../lab/config/config.ts';
import { type ArmReplay, replayArm } from '../../lab/run/arm-replay.ts';
import { FailedCheck } from '../process/supervision.ts';

interface ReplayFlags {
  readonly arm: string;
  readonly queries?: number;
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

/** @throws FailedCheck if the run files differ. */
export async function runMemoryReplay(path: string, flags: ReplayFlags): Promise<void> {
  const config = await openConfig(path, flags.set, flags.dataset ?? null);
  await useBackend(flags.backend ?? config.backend);
  const replayed = await replayArm(config, flags.arm, {
    ...{ cacheFolder: flags.cache, progress: createTerminalProgress() },
    ...(flags.queries !== undefined && { limit: flags.queries }),
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
