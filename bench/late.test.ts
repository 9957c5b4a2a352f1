import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { runBenchCommand } from './command.harness.ts';
import { formatLateTable, type LateMeasurement, measureLate } from './late.ts';
import { LatePeer } from './late-peer.ts';
import { measureStored } from './late-stored.ts';
import { drawLateWorld, readStoredTokens, scoreWorld } from './late-workload.ts';
import { findOwnTorch } from './peers/process.ts';
import { findInstalled } from './peers/venv.ts';

/** A test installs nothing. */
const system = findOwnTorch();
const python = 'versions' in system ? system : findInstalled('torch-requirements.txt');
const sizes = { turns: 31, questions: 3, turnTokens: 7, questionTokens: 5, dimension: 13, seed: 3 };

beforeAll(() => useBackend('wasm'));

/** The formula in float64, over the numbers that the store keeps. */
async function computeZidf(world: Awaited<ReturnType<typeof drawLateWorld>>): Promise<number[]> {
  const { turns: N, questions, turnTokens, questionTokens, dimension } = sizes;
  const [turn, query] = [await readStoredTokens(world, 'turn'), await readStoredTokens(world, 'query')];
  const multiply = (s: number, t: number) => {
    let sum = 0;
    for (let d = 0; d < dimension; d++) sum += turn.values[s * dimension + d]! * query.values[t * dimension + d]!;
    return sum * turn.scales[s]! * query.scales[t]!;
  };
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const columns = Array.from({ length: questions * questionTokens }, (_, t) => {
    const tokens = [...Array(turnTokens).keys()];
    const maxima = Array.from({ length: N }, (_, n) =>
      Math.max(...tokens.map((token) => multiply(n * turnTokens + token, t))),
    );
    const mean = sum(maxima) / N;
    const deviation = Math.sqrt(sum(maxima.map((value) => (value - mean) ** 2)) / N);
    const id = query.ids[t]!;
    const found = maxima.filter((_, n) => turn.ids.subarray(n * turnTokens, (n + 1) * turnTokens).includes(id)).length;
    const weight = Math.log(1 + (N - found + 0.5) / (found + 0.5));
    return { z: maxima.map((value) => (value - mean) / deviation), weight };
  });
  return Array.from({ length: questions * N }, (_, at) => {
    const own = columns.slice(Math.floor(at / N) * questionTokens, (Math.floor(at / N) + 1) * questionTokens);
    return sum(own.map(({ z, weight }) => weight * z[at % N]!)) / sum(own.map(({ weight }) => weight));
  });
}

test('what is measured agrees with the formula, and so does torch', async () => {
  const world = await drawLateWorld(sizes);
  const scores = await scoreWorld(world);
  const expected = await computeZidf(world);
  for (const [i, value] of expected.entries()) expect(scores[i]).toBeCloseTo(value, 5);
  const measured = await measureLate(world, 1, null);
  expect(measured.milliseconds).toBeGreaterThan(0);
  expect(measured.mostRate).toBeGreaterThan(0);
  if (python === null) return;
  const peer = await LatePeer.open(python, world);
  try {
    for (const threads of [1, null]) {
      expect((await peer.score(threads)).milliseconds).toBeGreaterThan(0);
      for (const [i, value] of peer.readScores().entries()) expect(value).toBeCloseTo(expected[i]!, 4);
    }
  } finally {
    peer.dispose();
  }
}, 60_000);

test('a peer that ends is an error with its complaint', async () => {
  const world = await drawLateWorld(sizes);
  await scoreWorld(world);
  const peer = await LatePeer.open({ command: process.execPath, versions: '' }, world); // no Python
  await expect(peer.score(1)).rejects.toThrow(/^peer late\.py .*; install python3/);
  peer.dispose();
});

test('ratios above 1 are against us; a dash stands for what was not measured', () => {
  const shared = { sizes: { ...sizes, turns: 1000, turnTokens: 10, questionTokens: 5, dimension: 100 } };
  const torch = { threads: 1, way: 'all turns at once', version: '2' };
  const rows: LateMeasurement[] = [
    { ...shared, milliseconds: 6, mostRate: 7.5 },
    {
      ...{ ...shared, milliseconds: 6, mostRate: 7.5 },
      torch: { one: { ...torch, milliseconds: 3 }, own: { ...torch, milliseconds: 12 }, difference: 2e-7 },
    },
  ];
  const [, , alone, beside] = formatLateTable(rows)
    .split('\n')
    .map((line) => line.trim().split(/ +/));
  expect(alone).toEqual(['1000', '3', '2.00', '0.01', '5.0', '7.5', '1.50', '-', '-', '-', '-', '-']);
  expect(beside?.slice(7)).toEqual(['1.00', '2.00', '4.00', '0.50', '2.0e-7']);
});

describe('bench command', () => {
  const run = (...args: string[]) => runBenchCommand('late', ...args);

  test('prints each size, and the memory of a turn', async () => {
    const small = [
      '--sizes',
      '23,41',
      '--questions',
      '1,3',
      '--dimension',
      '13',
      '--turn-tokens',
      '7',
      '--tokens',
      '5',
    ];
    const { status, output } = await run(...small, '--rounds', '1', '--peer', 'none', '--backend', 'wasm');
    expect(status).toBe(0);
    for (const row of ['23 +1', '23 +3', '41 +1', '41 +3'])
      expect(output).toMatch(new RegExp(`\\n *${row}( +\\d+\\.\\d+){5}( +-){5}\\n`));
    expect(output).toContain(`a turn takes ${7 * (13 + 8)} bytes in the store`);
    expect(output).toMatch(/\nno peer: none was asked for\n$/);
  });

  test.each([
    [['--peer', 'jax'], 'unknown --peer: jax; use one of torch, none\n'],
    [['--questions', '8,0'], '--questions is not an integer: 0; give one from 1\n'],
  ])('a wrong option ends with 2: %j', async (args, errors) => {
    expect(await run(...args)).toMatchObject({ status: 2, errors });
  });
});

test('both views of turns are stored in a folder, in 8 bits with a scale a token', async () => {
  const { bytes, peaks, seconds } = await measureStored({ ...sizes, turns: 300 });
  const { turnTokens, dimension } = sizes;
  expect(bytes / 300).toBeGreaterThan(2 * turnTokens * (dimension + 4));
  expect(bytes / 300).toBeLessThan(2 * (turnTokens * (dimension + 12) + 100));
  for (const value of [peaks.writing, peaks.asking, seconds]) expect(value).toBeGreaterThan(0);
});
