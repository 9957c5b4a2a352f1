import { writeSync } from 'node:fs';
import { WalCorruptedError } from '../../core/errors/errors.ts';
import { drawSteps, listHeld, runStep } from './damage-steps.fixture.ts';
import type { MemoryInput } from './memory-options.ts';
import { openMemory } from './open-memory.ts';

/** The work of a process on a memory. */
export interface WriterTask {
  readonly memory: MemoryInput;
  readonly seed: number;
  readonly steps: number;
  /** A snapshot is begun after this many acknowledgements; null: none. */
  readonly snapshotAfter: number | null;
}

/** Steps that wait at the same time, and may be acknowledged together. */
export const AT_ONCE = 4;

const print = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Tasks of a process, which does them at the same time. */
export interface WriterTasks {
  readonly tasks: readonly WriterTask[];
  /** The process is killed after this many acknowledgements of all tasks; null: it closes every memory. */
  readonly killAfter: number | null;
}

/** Acknowledgements so far, of all tasks. */
let total = 0;

/** Opens a memory and changes it. Prints what the opening says, then a line for each step after it was acknowledged. */
async function write(
  task: number,
  { memory: options, seed, steps, snapshotAfter }: WriterTask,
  killAfter: number | null,
): Promise<void> {
  const memory = await openMemory(options).catch((error: unknown) => {
    if (!(error instanceof WalCorruptedError)) throw error;
    return null;
  });
  print({ task, opened: memory?.sequence ?? null, warnings: memory?.warnings ?? [] });
  if (memory === null) return;
  let acknowledged = 0;
  let snapshot: Promise<void> | null = null;
  const acknowledge = () => {
    acknowledged++;
    print({ task, acknowledged });
    if (++total === killAfter) process.kill(process.pid, 'SIGKILL');
    if (acknowledged === snapshotAfter) snapshot = memory.snapshot();
  };
  const drawn = drawSteps(listHeld(memory), steps, seed);
  for (let start = 0; start < steps; start += AT_ONCE)
    await Promise.all(drawn.slice(start, start + AT_ONCE).map((step) => runStep(memory, step).then(acknowledge)));
  await snapshot;
  await memory.close();
}

if (process.env.RAGPP_DAMAGE_WRITER === '1') {
  const { tasks, killAfter } = JSON.parse(process.argv[2] as string) as WriterTasks;
  await Promise.all(tasks.map((task, i) => write(i, task, killAfter)));
}
