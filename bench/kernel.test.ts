import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { drawAnchors, drawConversation } from './kernel-data.ts';

const SMALL = [
  '--turns',
  '40',
  '--connections',
  '2',
  '--seconds',
  '1',
  '--repeats',
  '20',
  '--max-nodes',
  '30',
  '--shapes',
  'tree',
];

test('measures slices over HTTP, the parts within one process, the cache, and searches', async () => {
  const { status, output } = await runBenchCommand('kernel', ...SMALL, '--only', 'http,signing,cache,retrieval');
  expect(status).toBe(0);
  expect(output).toMatch(/^machine: .*\nslices of at most 30 turns/);
  expect(output).toMatch(/\ntree +40 +2 +30 +\d+ +[\d.]+ +[\d.]+ +[\d.]+\n/);
  for (const part of ['walk', 'offline check, public key', 'crypto.verify alone'])
    expect(output).toMatch(new RegExp(`\\n${part} +tree +40 +30 +[\\d.]+ `));
  expect(output).toMatch(/\n0 +tree +40 +0\.0 % /);
  for (const slices of ['no slices', 'slices, none kept', 'slices, 1000 kept'])
    expect(output).toMatch(new RegExp(`\\n${slices} +2 +\\d+ +[\\d.]+ `));
  expect(output).toMatch(/\n1000 +tree +40 +\d\d\.\d % /);
});

test('measures what others wait for hostile bodies', async () => {
  const { status, output } = await runBenchCommand('kernel', ...SMALL, '--connections', '1', '--only', 'hostile');
  expect(status).toBe(0);
  expect(output.match(/^[a-z ]+ +1 +\d+( +[\d.]+){3}$/gm)).toHaveLength(12);
});

test('a wrong option ends with 2', async () => {
  expect(await runBenchCommand('kernel', '--only', 'walks')).toMatchObject({
    ...{ status: 2, errors: 'unknown --only: walks; use http, signing, cache, retrieval, hostile\n' },
  });
});

test('conversations and anchors are those of the seed', () => {
  const draw = (seed: number) =>
    drawConversation({ shape: 'tree', turns: 50, seed }).turns.map(({ parentId }) => parentId);
  expect(draw(3)).toEqual(draw(3));
  expect(draw(3)).not.toEqual(draw(4));
  const star = drawConversation({ shape: 'star', turns: 5, seed: 3 });
  expect(star.turns.map(({ parentId }) => parentId)).toEqual([null, ...Array(4).fill('turn-0000000')]);
  expect(drawAnchors(50, 9, 3)).toEqual(drawAnchors(50, 9, 3));
  expect(new Set(drawAnchors(50, 900, 3, 3)).has('turn-0000000')).toBe(true);
});
