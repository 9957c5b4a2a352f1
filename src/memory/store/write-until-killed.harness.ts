import { writeSync } from 'node:fs';

/** Writers that change a store at the same time, each its own part. */
export const WRITERS = 16;

/** The store of a process that will be killed. */
interface KilledStore {
  snapshot(): Promise<void>;
}

/**
 * Changes a store until the process is killed, if it was started for that. Prints a line for each operation after it was acknowledged. The arguments of the process
 * are the folder, and the number of operations that each writer has done before: there are as many writers as numbers.
 */
export async function writeUntilKilled<S extends KilledStore>(
  open: (folder: string) => Promise<S>,
  runStep: (store: S, writer: number, step: number) => Promise<unknown>,
): Promise<void> {
  if (process.env.RAGPP_KILL_WRITER !== '1') return;
  const [, , folder, counts] = process.argv;
  const starts = JSON.parse(counts as string) as readonly number[];
  const store = await open(folder as string);
  writeSync(1, 'open\n');
  const write = async (writer: number) => {
    for (let step = starts[writer] as number; ; step++) {
      await runStep(store, writer, step);
      writeSync(1, `${writer} ${step + 1}\n`);
    }
  };
  const takeSnapshots = async () => {
    for (;;) {
      await store.snapshot();
      writeSync(1, 'snapshot\n');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await Promise.all([takeSnapshots(), ...starts.map((_, writer) => write(writer))]);
}
