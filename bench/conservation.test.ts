import { describe, expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { formatConservationTable } from './conservation.ts';
import { runNumpy } from './conservation-peer.ts';
import { measureStream } from './conservation-stream.ts';
import {
  computeDefinedFigures,
  computeExactFigures,
  drawConservationWorkload,
  measureRelativeError,
} from './conservation-workload.ts';
import { type FoundPython, findPython } from './peers/python.ts';

const python = findPython(['numpy']);

test('two records at a right angle, one of them heavier and longer', () => {
  const load = { dimension: 2, embeddings: Float32Array.of(2, 0, 0, 4), salience: Float64Array.of(3, 1) };
  for (const figures of [computeExactFigures(load, 2), computeDefinedFigures(load, 2)]) {
    expect(figures.magnitude).toBeCloseTo(0.75 * 2 + 0.25 * 4, 14);
    expect(figures.energy).toBeCloseTo((0.75 ** 2 + 0.25 ** 2) / 2, 14);
    expect(figures.information).toBeCloseTo(-0.75 * Math.log(0.75) - 0.25 * Math.log(0.25), 14);
  }
});

test('all pairs and exact sums agree, in numpy too', () => {
  const load = drawConservationWorkload(151, 31, 3);
  const exact = computeExactFigures(load, 101);
  expect(exact.energy).toBeGreaterThan(1e-3);
  expect(measureRelativeError(computeDefinedFigures(load, 101), exact)).toBeLessThan(1e-13);
  expect(measureRelativeError({ ...exact, energy: 1.25 * exact.energy }, exact)).toBeCloseTo(0.25, 10);
  expect(measureRelativeError({ ...exact, energy: Number.NaN }, exact)).toBeNaN();
  if ('missing' in python) return;
  const { pairwise, mean } = runNumpy(python as FoundPython, load, { pairwise: [53, 101], mean: [101] }, 1);
  for (const { figures, seconds } of [pairwise[1]!, mean[0]!]) {
    expect(measureRelativeError(figures, exact)).toBeLessThan(1e-13);
    expect(seconds).toBeGreaterThan(0);
  }
});

test('a stream is held against what it holds at the end', () => {
  const { drift, addsPerSecond, removesPerSecond } = measureStream(drawConservationWorkload(211, 13, 5), 3001, 7);
  expect(drift).toBeLessThan(1e-13);
  expect(addsPerSecond).toBeGreaterThan(0);
  expect(removesPerSecond).toBeLessThan(Number.POSITIVE_INFINITY);
});

test('ratios are to half the size, and to all pairs at the same size', () => {
  const table = formatConservationTable([
    { name: 'host', count: 1000, seconds: 0.5, error: 2e-15 },
    { name: 'host', count: 2000, seconds: 1, error: 3e-15 },
    { name: 'all pairs', count: 2000, seconds: 30, error: 1e-14 },
  ]);
  expect(table.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
    ['method', 'records', 'seconds', 'vs half', 'relative error', 'times faster than all pairs'],
    expect.anything(),
    ['host', '1000', '0.50000', '-', '2.0e-15', '-'],
    ['host', '2000', '1.00000', '2.00', '3.0e-15', '30.0'],
    ['all pairs', '2000', '30.00000', '-', '1.0e-14', '1.0'],
    [''],
    ['growth of host: seconds ~ records^1.00'],
  ]);
});

describe('bench command', () => {
  const run = (...args: string[]) => runBenchCommand('conservation', ...args);

  test('measures host, tensors, all pairs and the stream', async () => {
    const sizes = ['--min-n', '53', '--max-n', '251', '--max-pairs', '106', '--max-peer', '0', '--dimension', '13'];
    const { output } = await run(...sizes, '--operations', '1009', '--repeats', '1', '--backend', 'wasm');
    const rows = output.split('\n').filter((line) => /^(host|tensors|all pairs) /.test(line));
    const cells = rows.map((line) => line.split(/\s{2,}/));
    expect(cells.map(([name, count]) => `${name} ${count}`)).toEqual([
      ...['host 53', 'host 106', 'host 212', 'tensors 53', 'tensors 106', 'tensors 212'],
      ...['all pairs 53', 'all pairs 106'],
    ]);
    for (const [name, , , , error] of cells) expect(Number(error)).toBeLessThan(name === 'tensors' ? 1e-5 : 1e-13);
    expect(output).toMatch(
      /\nstream: \d+ adds, \d+ removes and \d+ readings a second; relative drift \d.* after 1009 /,
    );
    expect(output).toMatch(/\nno peer was asked for; load at the end \d+\.\d\n$/);
  });

  test('a wrong option ends with 2', async () => {
    const errors = '--operations is not an integer: none; give one from 1\n';
    expect(await run('--operations', 'none')).toMatchObject({ status: 2, errors });
  });
});
