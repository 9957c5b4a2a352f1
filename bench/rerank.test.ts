import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { runBenchCommand } from './command.harness.ts';
import { findOwnTorch } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';
import { findInstalled } from './peers/venv.ts';
import { formatRerankTable } from './rerank.ts';
import { runTorchRerank } from './rerank-peer.ts';
import { RerankReference, SCORES } from './rerank-reference.ts';
import { measureRerank, measureRerankErrors, STEPS } from './rerank-timing.ts';
import { drawRerankWorld } from './rerank-workload.ts';
import { median, timeRepeats } from './timing.ts';

const own = findOwnTorch();
const python = 'versions' in own ? own : findInstalled('torch-requirements.txt');
const world = drawRerankWorld(997, 13, 31, 3);
const reference = new RerankReference(world);

beforeAll(() => useBackend('wasm'));

test('conversations branch and end, and queries come late', () => {
  const { corpus, queries } = world;
  expect(corpus.conversations.length).toBeGreaterThan(40);
  expect(
    corpus.parent.some((parent, i) => parent >= 0 && corpus.ringPosition[i]! - corpus.ringPosition[parent]! > 1),
  ).toBe(true);
  for (const { timestamp, anchorTurnId } of queries) {
    expect(corpus.countEarlierTurns(timestamp)).toBeGreaterThan(890);
    if (anchorTurnId !== null) expect(corpus.getTurn(anchorTurnId).timestamp).toBeLessThan(timestamp);
  }
  expect(drawRerankWorld(997, 13, 31, 3).turnVectors).toEqual(world.turnVectors);
});

test('what is measured agrees with the formulas, and so does torch', async () => {
  const measured = await measureRerank(world, reference, 13, [7, 53], { repeats: 1, samples: 13 });
  expect(measured.map(({ candidates }) => candidates)).toEqual([7, 53]);
  for (const { errors, times } of measured) {
    for (const name of SCORES) expect(errors[name]).toBeLessThan(1e-6);
    expect(Object.keys(times).sort()).toEqual([...STEPS].sort());
  }
  if (python === null) return;
  const peers = await runTorchRerank(python satisfies FoundPython, world, measured, 1);
  for (const [i, { scores, times }] of peers.entries()) {
    const errors = measureRerankErrors(world, reference, measured[i]!.pool, 13, scores);
    for (const name of SCORES) expect(errors[name]).toBeLessThan(1e-5);
    expect(times.whole.median).toBeGreaterThan(times.trajectory.fastest);
  }
});

test('an error is found wherever it is', async () => {
  const [measured] = await measureRerank(world, reference, 5, [11], { repeats: 1, samples: 1 });
  const { pool } = measured!;
  const zeros = new Float32Array(pool.positions.length);
  const columns = { cosine: zeros, trajectory: zeros, attention: zeros, final: zeros.with(13, Number.NaN) };
  const errors = measureRerankErrors(world, reference, pool, 5, columns);
  expect(errors.final).toBeNaN();
  expect(errors.trajectory).toBeGreaterThan(0.1);
});

test('ratios are those of the fastest runs at the same step; a dash stands for what was not measured', () => {
  const shared = { size: 3001, batch: 7, candidates: 53 };
  const rows = [
    { ...shared, step: 'frames', milliseconds: 0.25 },
    {
      ...shared,
      step: 'whole',
      milliseconds: 0.5,
      fastest: 0.4,
      error: 2e-7,
      peer: 2,
      peerFastest: 1.6,
      peerError: 3e-7,
    },
  ];
  expect(formatRerankTable(rows).split('\n')).toEqual([
    'step       N  B   C  ms/query  fastest  max error  torch  its fastest  its error  of torch',
    '------  ----  -  --  --------  -------  ---------  -----  -----------  ---------  --------',
    'frames  3001  7  53     0.250        -          -      -            -          -         -',
    'whole   3001  7  53     0.500    0.400     2.0e-7  2.000        1.600     3.0e-7      0.25',
  ]);
});

test('the median is the middle, or between the two', async () => {
  expect(median([7, 1, 3])).toBe(3);
  expect(median([7, 1, 3, 5])).toBe(4);
  let runs = 0;
  const times = await timeRepeats(5, () => ++runs);
  expect(times.result).toBe(5);
  expect(times.fastest).toBeLessThanOrEqual(times.median);
});

describe('bench command', () => {
  const run = (...args: string[]) => runBenchCommand('rerank', ...args);

  test('prints every step of every case', async () => {
    const cases = ['--sizes', '211', '--batches', '1,3', '--candidates', '5,17', '--dimension', '13'];
    const { output } = await run(...cases, '--repeats', '1', '--peer', 'none', '--backend', 'wasm');
    for (const step of STEPS) expect(output.match(new RegExp(`\n${step} +211 +[13] +(5|17) `, 'g'))).toHaveLength(4);
    expect(output).toMatch(/; load \d+\.\d; .* backend wasm\n/);
    expect(output).toMatch(/\nno peer was asked for\n$/);
  });

  test.each([
    [['--peer', 'jax'], 'unknown --peer: jax; use one of torch, none\n'],
    [['--batches', '8,0'], '--batches is not an integer: 0; give one from 1\n'],
    [['--seed', '1,2'], '--seed is not an integer: 1,2; give one from 1\n'],
  ])('a wrong option ends with 2: %j', async (args, errors) => {
    expect(await run(...args)).toMatchObject({ status: 2, errors });
  });
});
