import { Session } from 'node:inspector/promises';
import { measureCost } from '../src/core/tensors/active-backend.ts';
import { useBackend } from '../src/core/tensors/backend.ts';
import { countKernelPasses, takePasses } from './kernel-passes.ts';
import type { OperationCounts } from './operations.ts';

const FILE = /\/src\/(.*)\.ts$/;
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
countKernelPasses();
// Loaded after that, since blocks are counted in what is compiled from then on.
const { OPERATION_WORKLOADS } = await import('./operation-workloads.ts');

/** The number of blocks that ran since the last call, by room. */
async function takeBlocks(): Promise<Record<string, number>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const blocks: Record<string, number> = {};
  for (const { url, functions } of result) {
    const room = FILE.exec(url)?.[1]?.split('/')[0];
    if (room === undefined || room === 'core') continue; // which yields to timers and writes progress
    for (const { ranges } of functions)
      for (const { count } of ranges) if (count > 0) blocks[room] = (blocks[room] ?? 0) + count;
  }
  return blocks;
}

await useBackend('wasm');
const counts: Record<string, OperationCounts> = {};
for (const [name, workload] of Object.entries(OPERATION_WORKLOADS)) {
  await workload(async (work) => {
    await takeBlocks();
    takePasses();
    const { all } = await measureCost(work);
    const passes = takePasses();
    const blocks = await takeBlocks();
    counts[name] = { launches: all.launches, bytesRead: all.bytesRead, passes, blocks };
  });
}
process.send!(counts);
