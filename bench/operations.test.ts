import { expect, test } from 'vitest';
import { countOperations, listGrowth, readHeldOperations } from './operations.ts';

test('no workload takes more operations than are held', async () => {
  const counts = await countOperations();
  expect(listGrowth(readHeldOperations(), counts)).toEqual([]);
  expect(Object.keys(counts)).toEqual(Object.keys(readHeldOperations()));
});

test('launches and bytes must not grow, blocks by five of a hundred, and few blocks are not looked at', () => {
  const before = { arm: { launches: 7, bytesRead: 40, blocks: { index: 10_000, rank: 30 } } };
  const count = (launches: number, bytesRead: number, index: number, rank: number, ops: number) => ({
    arm: { launches, bytesRead, blocks: { index, rank, ops } },
  });
  expect(listGrowth(before, count(7, 40, 10_500, 1000, 1000))).toEqual([]);
  expect(listGrowth(before, count(1, 4, 100, 1, 0))).toEqual([]);
  expect(listGrowth(before, count(8, 44, 10_501, 1001, 1002))).toEqual([
    'arm: launches grew from 7 to 8',
    'arm: bytes read back grew from 40 to 44',
    'arm: blocks of index grew from 10000 to 10501',
    'arm: blocks of rank grew from 30 to 1001',
    'arm: blocks of ops grew from 0 to 1002',
  ]);
  expect(listGrowth({}, before)).toEqual(['arm: not held; npm run bench -- operations --write']);
});
