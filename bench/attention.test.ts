import { describe, expect, test } from 'vitest';
import { formatAttentionTable } from './attention.ts';
import { runBenchCommand } from './command.harness.ts';
import { computeDoublingRatio, fitGrowthExponent } from './growth.ts';

describe('bench attention', () => {
  test('measures the band beside the dense form, with the error of each', async () => {
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
    for (const line of lines) expect(Number(line.split(/\s+/).at(-2))).toBeLessThan(1e-5);
    expect(output).toMatch(/\ngrowth of banded: seconds ~ turns\^-?\d+\.\d\d\n/);
    expect(output).toMatch(/GiB in memory/);
    expect(output).toMatch(/\nno peer was asked for\n$/);
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

  test('ratios are to half the size, and to torch at the same size', () => {
    const table = formatAttentionTable([
      { name: 'banded', turns: 1000, seconds: 0.5, bandWidth: 16, bound: 1e-6, error: 2e-7 },
      { name: 'banded', turns: 2000, seconds: 1, bandWidth: 15, bound: 1e-6, error: 2e-7 },
      { name: 'dense torch', turns: 2000, seconds: 30, error: 1e-7 },
    ]);
    expect(table.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
      ['method', 'turns', 'seconds', 'vs half', 'W', 'bound', 'max error', 'times faster than torch'],
      expect.anything(),
      ['banded', '1000', '0.500', '-', '16', '1.0e-6', '2.0e-7', '-'],
      ['banded', '2000', '1.000', '2.00', '15', '1.0e-6', '2.0e-7', '30.00'],
      ['dense torch', '2000', '30.000', '-', '-', '-', '1.0e-7', '1.00'],
      [''],
      ['growth of banded: seconds ~ turns^1.00'],
    ]);
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
