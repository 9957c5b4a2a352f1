import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { formatScale } from './scale.ts';
import type { ScaleCost } from './scale-child.ts';

const run = (...args: string[]) => runBenchCommand('scale', ...args);

test('every step of a run is measured at every size, hnswlib alone at the smaller ones', async () => {
  const { output } = await run(
    '--sizes',
    '150,300',
    '--hnswlib',
    '150',
    '--queries',
    '7',
    '--dimension',
    '5',
    '--backend',
    'wasm',
  );
  expect(output).toMatch(
    /^machine: .* load [\d.]+ at the start; .* backend wasm; commit .+\ndata: made-up threads, \d queries, lsa of 5 dimensions, seed 7; .*\nhnsw by (its addon|hnswlib-node \(addon: .+\))\n/,
  );
  const numbers = String.raw`\s+[\d.]+\s+[\d.]+\s+-?[\d.]+\*?$`;
  const steps = ['dataset', 'embedding', 'embedding, from the cache', 'candidates, bm25', 'candidates, hnsw', 'rerank'];
  for (const step of [...steps, 'measure', 'all'])
    expect(output.match(new RegExp(`^${step}${numbers}`, 'gm')), step).toHaveLength(2);
  expect(output.match(/^hnswlib alone\s+[\d.]+$/gm)).toHaveLength(2); // seconds and memory of the first size
});

test('SIGINT ends the measured process and removes its files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scale-test-'));
  vi.stubEnv('TMPDIR', folder);
  try {
    const running = run('--sizes', '150');
    expect(readdirSync(folder)).toHaveLength(1);
    process.emit('SIGINT');
    expect(await running).toMatchObject({
      status: 1,
      errors: expect.stringContaining('ended with SIGKILL') as unknown,
    });
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
});

const MIB = 2 ** 20;

const buildScaleCost = (turns: number, [linear, graph, slow]: readonly number[], isLargest = false): ScaleCost => ({
  turns,
  queries: 3,
  steps: [
    { step: 'linear', seconds: linear!, peak: 100 * MIB, isPeer: false },
    { step: 'candidates, hnsw', seconds: graph!, peak: 100 * MIB, isPeer: false },
    { step: 'slow', seconds: slow!, peak: turns ** 2 * MIB, isPeer: false },
    ...(isLargest ? [] : [{ step: 'peer', seconds: turns ** 2, peak: 7 * MIB, isPeer: true }]),
  ],
  wallSeconds: 1,
  backend: 'wasm',
});

test('growth is stated from one size to the next and over all, seconds are added up, and the highest peak counts', () => {
  const costs = [
    buildScaleCost(10, [1, 1, 1]),
    buildScaleCost(100, [12.5, 19.9, 13]),
    buildScaleCost(200, [26, 49.8, 27.3], true),
  ];
  expect(formatScale(costs).split('\n')).toEqual([
    'seconds of the processor',
    '',
    'turns                 10       100   exp      200   exp    fit',
    '----------------  ------  --------  -----  ------  -----  -----',
    'linear              1.00     12.50  1.10    26.00  1.06   1.09',
    'candidates, hnsw    1.00     19.90  1.30    49.80  1.32*  1.30',
    'slow                1.00     13.00  1.11*   27.30  1.07   1.11*',
    'all                 3.00     45.40  1.18   103.10  1.18   1.18',
    'peer              100.00  10000.00  2.00',
    '',
    'peak memory, MiB',
    '',
    'turns              10    100   exp     200   exp    fit',
    '----------------  ---  -----  -----  -----  -----  -----',
    'linear            100    100  0.00     100  0.00   0.00',
    'candidates, hnsw  100    100  0.00     100  0.00   0.00',
    'slow              100  10000  2.00*  40000  2.00*  2.00*',
    'all               100  10000  2.00   40000  2.00   2.00',
    'peer                7      7  0.00',
  ]);
});

test.each([
  [['--sizes', '100,50'], /--sizes do not ascend: 100,50; sort them/],
  [['--hnswlib', '1.5'], /--hnswlib is not an integer: 1.5; give one from 0/],
  [['--sizes', '100,x'], /--sizes is not an integer: x; give one from 1/],
])('refuses %j', async (args, message) => {
  const errors: unknown = expect.stringMatching(message);
  expect(await run(...args)).toMatchObject({ status: 2, errors });
});
