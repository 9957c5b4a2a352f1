import { expect, test } from 'vitest';
import { runStudy } from '../study.harness.ts';
import { createStudyCommand } from '../study.ts';
import { throughput } from './study.ts';

test('throughput: every arm at every batch size, answered alone as in batches', async () => {
  const options = ['arms=[newest, unified]', 'batchSizes=[1, 5, 31]', 'queries=31', 'rounds=1', 'depth=7'];
  const { figures, table } = await runStudy(createStudyCommand(throughput), 'throughput', ...options);
  expect(figures).toMatchObject({ experiment: 'throughput', queries: 31, batchSizes: [1, 5, 31] });
  const arms = figures.arms as { arm: string; perSecond: number[] }[];
  expect(arms.map(({ arm, perSecond }) => [arm, perSecond.length])).toEqual([
    ['newest', 3],
    ['unified', 3],
  ]);
  for (const { perSecond } of arms) {
    for (const value of perSecond) expect(value).toBeGreaterThan(0);
    expect(perSecond[2]).toBeGreaterThan(perSecond[0] as number);
  }
  expect(table).toMatch(/^\| arm +\| +B = 1 \| +B = 5 \| +B = 31 \|$/m);
});

test('the throughput of an unknown arm is an error', async () => {
  await expect(runStudy(createStudyCommand(throughput), 'no-arm', 'arms=[nobody]')).rejects.toThrow(
    'config has no arm: nobody; name one of its arms',
  );
});
