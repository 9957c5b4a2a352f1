import { describe, expect, test } from 'vitest';
import { formatAttentionTable } from './attention.ts';
import { runBenchCommand } from './command.harness.ts';
import { computeDoublingRatio, fitGrowthExponent } from './growth.ts';
import { findOwnTorch } from './peers/process.ts';
import { findInstalled } from './peers/venv.ts';

const PEER_HEADER = ['torch, seconds', 'its block', 'times torch', 'difference'];
/** Torch, if an earlier run or the machine has it: a test installs nothing. */
const TORCH = findInstalled('torch-requirements.txt') ?? findOwnTorch();

describe('bench attention', () => {
  test('measures the band beside the dense form, with the error of each and the arithmetic of the band', async () => {
    const sizes = ['--min-n', '401', '--max-n', '1700', '--max-dense', '401', '--max-torch', '0'];
    const { status, output } = await runBenchCommand(
      'attention',
      ...sizes,
      '--dimension',
      '13',
      '--repeats',
      '1',
      '--backend',
      'wasm',
    );
    expect(status).toBe(0);
    const lines = output.split('\n').filter((line) => /^(banded|dense) /.test(line));
    expect(lines.map((line) => line.split(/\s+/).slice(0, 2))).toEqual([
      ['banded', '401'],
      ['banded', '802'],
      ['banded', '1604'],
      ['dense', '401'],
    ]);
    for (const line of lines) expect(Number(line.split(/\s+/)[6])).toBeLessThan(1e-5);
    for (const line of lines.slice(0, 3)) expect(Number(line.split(/\s+/)[8])).toBeGreaterThan(0);
    expect(output).toMatch(/\ngrowth of banded: seconds ~ turns\^-?\d+\.\d\d\n/);
    expect(output).toMatch(
      /\na product of 1024 x 512 x 1024: \S+ GFLOP\/s on wasm\nno peer: none was asked for\n.* GiB in memory\n$/,
    );
  });

  test.each([
    [['--max', '7'], /--max/],
    [['--max-n', 'many'], /^--max-n is not an integer: many; give one from 1\n$/],
    [
      ['--max-n', '101', '--tolerance=-1'],
      /^tolerance is negative: -1; pass 0 for dense attention, or a number above 0\n$/,
    ],
  ])('a wrong option ends with 2: %j', async (args, message) => {
    const errors: unknown = expect.stringMatching(message);
    expect(await runBenchCommand('attention', ...args)).toMatchObject({ status: 2, errors });
  });

  test('ratios are to half the size, to the arithmetic of the band, and to torch at the same size', () => {
    const shared = { bound: 1e-6, error: 2e-7 };
    const torch = { seconds: 0.4, block: 64, version: '2' };
    const table = formatAttentionTable(
      [
        { ...shared, name: 'banded', turns: 1000, seconds: 0.5, bandWidth: 16, operations: 1e9 },
        { ...shared, name: 'banded', turns: 2000, seconds: 1, bandWidth: 15, operations: 4e9, torch, difference: 3e-7 },
        { name: 'dense', turns: 2000, seconds: 30, error: 1e-7 },
      ],
      20,
    );
    expect(table.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
      ...[[...'method|turns|seconds|vs half|W|bound|max error|limit|times the limit'.split('|'), ...PEER_HEADER]],
      expect.anything(),
      ['banded', '1000', '0.5000', '-', '16', '1.0e-6', '2.0e-7', '0.0500', '10.00', '-', '-', '-', '-'],
      [
        'banded',
        '2000',
        '1.0000',
        '2.00',
        '15',
        '1.0e-6',
        '2.0e-7',
        '0.2000',
        '5.00',
        '0.4000',
        '64',
        '2.50',
        '3.0e-7',
      ],
      ['dense', '2000', '30.0000', '-', '-', '-', '1.0e-7', '-', '-', '-', '-', '-', '-'],
      [''],
      ['growth of banded: seconds ~ turns^1.00'],
    ]);
  });

  test.skipIf('missing' in TORCH)('torch computes the same values', async () => {
    const sizes = ['--min-n', '401', '--max-n', '802', '--max-dense', '0', '--dimension', '13', '--repeats', '1'];
    const { status, output } = await runBenchCommand('attention', ...sizes, '--backend', 'wasm');
    expect(status).toBe(0);
    const lines = output.split('\n').filter((line) => line.startsWith('banded '));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const [, , , , , , , , , seconds, block, ratio, difference] = line.split(/\s+/);
      for (const figure of [seconds, block, ratio]) expect(Number(figure)).toBeGreaterThan(0);
      expect(Number(difference)).toBeLessThan(2e-6);
    }
    expect(output).toMatch(
      /\npeer: torch \d\S+, banded, 1 thread, the fastest of five blocks; its product: \S+ GFLOP\/s\n/,
    );
  });
});

test('the exponent is that of a power of the size', () => {
  const times = [3, 7, 31].map((size) => ({ size, seconds: 5 * size ** 1.5 }));
  expect(fitGrowthExponent(times)).toBeCloseTo(1.5, 10);
  expect(fitGrowthExponent(times.slice(0, 1))).toBeNaN();
  expect(
    computeDoublingRatio(
      [
        { size: 5, seconds: 2 },
        { size: 10, seconds: 7 },
      ],
      10,
    ),
  ).toBe(3.5);
  expect(computeDoublingRatio(times, 7)).toBeUndefined();
});
