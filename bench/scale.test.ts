import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { formatScale } from './scale.ts';
import type { ScaleCost } from './scale-child.ts';

const run = (...args: string[]) => runBenchCommand('scale', ...args);

test('every step of a run is measured at every size', async () => {
  const { output } = await run('--sizes', '150,300', '--queries', '7', '--dimension', '5', '--backend', 'wasm');
  expect(output).toMatch(/^machine: .* backend wasm\ndata: made-up threads, \d queries, lsa of 5 dimensions, seed 7; /);
  const numbers = String.raw`\s+[\d.]+\s+[\d.]+\s+-?[\d.]+$`;
  const steps = ['dataset', 'embedding', 'embedding, from the cache', 'candidates, bm25', 'candidates, hnsw', 'rerank'];
  for (const step of [...steps, 'measure', 'all', 'hnswlib alone'])
    expect(output.match(new RegExp(`^${step}${numbers}`, 'gm')), step).toHaveLength(2);
});

test('growth is stated from one size to the next, seconds are added up, and the highest peak counts', () => {
  const MIB = 2 ** 20;
  const buildScaleCost = (turns: number, a: number, b: number): ScaleCost => ({
    turns,
    queries: 3,
    steps: [
      { step: 'linear', seconds: a, peak: 100 * MIB, isPeer: false },
      { step: 'quadratic', seconds: b, peak: 100 * turns * MIB, isPeer: false },
      { step: 'peer', seconds: 3, peak: 7 * MIB, isPeer: true },
    ],
    wallSeconds: 1,
    backend: 'wasm',
  });
  expect(
    formatScale([buildScaleCost(10, 1, 1), buildScaleCost(100, 10, 100), buildScaleCost(200, 20, 400)]).split('\n'),
  ).toEqual([
    'seconds of the processor',
    '',
    'turns        10     100   exp     200   exp',
    '---------  ----  ------  ----  ------  ----',
    'linear     1.00   10.00  1.00   20.00  1.00',
    'quadratic  1.00  100.00  2.00  400.00  2.00',
    'all        2.00  110.00  1.74  420.00  1.93',
    'peer       3.00    3.00  0.00    3.00  0.00',
    '',
    'peak memory, MiB',
    '',
    'turns        10    100   exp    200   exp',
    '---------  ----  -----  ----  -----  ----',
    'linear      100    100  0.00    100  0.00',
    'quadratic  1000  10000  1.00  20000  1.00',
    'all        1000  10000  1.00  20000  1.00',
    'peer          7      7  0.00      7  0.00',
  ]);
});

test.each([
  [['--sizes', '100,50'], /--sizes do not ascend: 100,50; sort them/],
  [['--sizes', '100,x'], /--sizes is not an integer: x; give one from 1/],
])('refuses %j', async (args, message) => {
  const errors: unknown = expect.stringMatching(message);
  expect(await run(...args)).toMatchObject({ status: 2, errors });
});
