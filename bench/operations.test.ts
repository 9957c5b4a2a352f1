import { expect, test } from 'vitest';
import { PostingMemory } from '../src/index/words/posting-kernel.ts';
import { countKernelPasses, takePasses } from './kernel-passes.ts';
import { countOperations, listGrowth, readHeldOperations } from './operations.ts';

test('no workload takes more operations than are held', async () => {
  let counts = await countOperations();
  // On a busy machine the blocks of a room are sometimes too many; those of code that grew are so each time.
  for (let again = 0; again < 3 && listGrowth(readHeldOperations(), counts).length > 0; again++)
    counts = await countOperations();
  expect(listGrowth(readHeldOperations(), counts)).toEqual([]);
  expect(Object.keys(counts)).toEqual(Object.keys(readHeldOperations()));
});

test('kernels that are opened from then on count what they go through, and compute the same', () => {
  const add = () => {
    const memory = new PostingMemory();
    const [positions, pairs, shares, sums, found, bounds] = [12, 6, 16, 64, 32, 8].map((bytes) =>
      memory.allocate(bytes),
    ) as [number, number, ...[number, number, number, number]];
    memory.int32.set([1, 4, 6], positions >> 2);
    memory.uint16.set([1, 1, 1], pairs >> 1);
    memory.float64[(shares >> 3) + 1] = 0.25;
    const count = memory.kernel.accumulate(positions, pairs, 3, 2, shares, bounds, 0, 0, sums, found, 0);
    const kept = memory.kernel.keepFrom(sums, found, count, bounds, 0, 0.75);
    return [count, kept, ...memory.float64.slice(sums >> 3, (sums >> 3) + 8)];
  };
  const { Instance } = WebAssembly;
  const alone = add();
  expect(takePasses()).toBe(0);
  countKernelPasses();
  try {
    expect(add()).toEqual(alone);
  } finally {
    WebAssembly.Instance = Instance;
  }
  expect(takePasses()).toBe(6); // postings, then what they found
  expect(takePasses()).toBe(0);
});

test('launches and bytes must not grow, blocks by five of a hundred, and few blocks are not looked at', () => {
  const before = { arm: { launches: 7, bytesRead: 40, passes: 90, blocks: { index: 10_000, rank: 30 } } };
  const count = (launches: number, bytesRead: number, index: number, rank: number, ops: number, passes = 90) => ({
    arm: { launches, bytesRead, passes, blocks: { index, rank, ops } },
  });
  expect(listGrowth(before, count(7, 40, 10_500, 1000, 1000))).toEqual([]);
  expect(listGrowth(before, count(1, 4, 100, 1, 0))).toEqual([]);
  expect(listGrowth(before, count(8, 44, 10_501, 1001, 1002, 91))).toEqual([
    'arm: launches grew from 7 to 8',
    'arm: bytes read back grew from 40 to 44',
    'arm: passes of kernels grew from 90 to 91',
    'arm: blocks of index grew from 10000 to 10501',
    'arm: blocks of rank grew from 30 to 1001',
    'arm: blocks of ops grew from 0 to 1002',
  ]);
  expect(listGrowth({}, before)).toEqual(['arm: not held; npm run bench -- operations --write']);
});
