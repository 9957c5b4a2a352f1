import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { BackendName } from '../../src/core/tensors/active-backend.ts';
import { collectGarbage, readPeakMemoryBytes, resetPeakMemory } from '../peak-memory.ts';
import { readProcessorSeconds } from '../timing.ts';
import type { GiveResult } from './work.ts';
import { WORK_GROUPS, type WorkGroupName } from './works.ts';

/** Our side of bench/peers.ts; bench/peers/works/serve.py describes the questions. */
const [folder, name, backend] = process.argv.slice(2) as [string, WorkGroupName, BackendName];
const works = await (await WORK_GROUPS[name]()).open(folder, backend);
let giveResult: GiveResult | null = null;

/**
 * Processor seconds of a work after which it is timed, or twice as many on the clock: a collection takes from V8 what
 * it has compiled. The first run has the peak of memory, the last the times.
 */
const STEADY_SECONDS = 1;

async function measureWork(work: string) {
  giveResult = null;
  collectGarbage();
  resetPeakMemory();
  let peakBytes: number | undefined;
  for (let [spent, spentWall] = [0, 0]; ; ) {
    const [start, startWall] = [readProcessorSeconds(), performance.now()];
    giveResult = await works[work]!();
    const [seconds, wallSeconds] = [readProcessorSeconds() - start, (performance.now() - startWall) / 1000];
    peakBytes ??= readPeakMemoryBytes();
    [spent, spentWall] = [spent + seconds, spentWall + wallSeconds];
    if (spent >= STEADY_SECONDS || spentWall >= 2 * STEADY_SECONDS) return { seconds, wallSeconds, peakBytes };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as { readonly work: string } | { readonly keep: string };
  if ('keep' in question) writeFileSync(question.keep, await giveResult!());
  const answer = 'keep' in question ? {} : await measureWork(question.work);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
