import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { matmul } from '../src/core/tensors/matmul.ts';
import { readBack } from '../src/core/tensors/scope.ts';
import { parsePositiveOption } from './integer-option.ts';
import { LatePeer, type TorchLate } from './late-peer.ts';
import { measureStored } from './late-stored.ts';
import { drawLateWorld, type LateSizes, type LateWorld, readStoredTokens, scoreWorld } from './late-workload.ts';
import { findTorch } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';
import { formatTextTable } from './text-table.ts';

export const LATE_USAGE = `late [options]   time of late interaction of questions with N turns, beside the matrix rate of the backend and beside torch, which it installs into a virtual environment where python3 has none
    --sizes N,N        turns (default 600,5000)
    --questions Q,Q    questions at once (default 1,64)
    --turn-tokens S    of a turn (default 38)
    --tokens T         of a question (default 14)
    --dimension D      (default 384)
    --rounds R         of which the fastest counts, as others disturb only upward (default 5)
    --stored N         writes both views of N turns to a folder instead, and prints bytes, peak memory, and seconds of a question
    --peer P           torch, none (default torch)
    --seed S           (default 7)
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

const PEERS = ['torch', 'none'] as const;

/** Milliseconds of all questions of a world. */
export interface LateMeasurement {
  readonly sizes: LateSizes;
  readonly milliseconds: number;
  /** GFLOP/s of a product of matrices of the same operands by itself. */
  readonly mostRate: number;
  readonly torch?: { readonly one: TorchLate; readonly own: TorchLate; readonly difference: number };
}

/** Rows of tokens of a product that is measured by itself. */
const ROWS = 2 ** 13;

/** A product of matrices by itself, its operands on the device. @returns its GFLOP/s. */
async function measureMatrixRate(
  { turns, turnTokens, questions, questionTokens, dimension }: LateSizes,
  rounds: number,
) {
  const [rows, inner, columns] = [Math.min(ROWS, turns * turnTokens), dimension, questions * questionTokens];
  const [a, b] = [tf.ones([rows, inner]) as tf.Tensor2D, tf.ones([inner, columns]) as tf.Tensor2D];
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    await readBack('product', () => matmul(a, b));
    if (round > 0) fastest = Math.min(fastest, performance.now() - started);
  }
  tf.dispose([a, b]);
  return (2 * rows * inner * columns) / fastest / 1e6;
}

const pickFaster = (a: TorchLate | undefined, b: TorchLate): TorchLate =>
  a === undefined || b.milliseconds < a.milliseconds ? b : a;

/** @returns NaN where one of them is no number. */
function findLargestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs((a[i] as number) - (b[i] as number)));
  return largest;
}

/** Ours and torch in turn, after a warm-up of each. */
export async function measureLate(
  world: LateWorld,
  rounds: number,
  python: FoundPython | null,
): Promise<LateMeasurement> {
  const scores = await scoreWorld(world);
  const peer = python === null ? null : await LatePeer.open(python, world);
  try {
    let [milliseconds, mostRate] = [Number.POSITIVE_INFINITY, 0];
    let single: TorchLate | undefined;
    let own: TorchLate | undefined;
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      await scoreWorld(world);
      milliseconds = Math.min(milliseconds, performance.now() - started);
      mostRate = Math.max(mostRate, await measureMatrixRate(world.sizes, 3));
      if (peer === null) continue;
      single = pickFaster(single, await peer.score(1));
      own = pickFaster(own, await peer.score(null));
    }
    const figures = { sizes: world.sizes, milliseconds, mostRate };
    if (peer === null || single === undefined || own === undefined) return figures;
    return { ...figures, torch: { one: single, own, difference: findLargestDifference(scores, peer.readScores()) } };
  } finally {
    peer?.dispose();
  }
}

/** Times of a question; ratios above 1 are against us. A dash without a peer. */
export function formatLateTable(measurements: readonly LateMeasurement[]): string {
  const header = [
    ...['N', 'questions', 'ms a question', 'GFLOP', 'GFLOP/s', 'a product alone', 'ratio'],
    ...['torch, 1 thread', 'ratio', 'torch, its threads', 'ratio', 'difference'],
  ];
  const lines = measurements.map(({ sizes, milliseconds, mostRate, torch }) => {
    const { turns, questions, turnTokens, questionTokens, dimension } = sizes;
    const operations = (2 * turns * turnTokens * questionTokens * questions * dimension) / 1e9;
    const rate = operations / (milliseconds / 1e3);
    const torchTimes = torch && [torch.one, torch.own].map((time) => time.milliseconds);
    return [
      ...[`${turns}`, `${questions}`, (milliseconds / questions).toFixed(2)],
      ...[(operations / questions).toFixed(2), rate.toFixed(1), mostRate.toFixed(1), (mostRate / rate).toFixed(2)],
      ...(torchTimes?.flatMap((time) => [(time / questions).toFixed(2), (milliseconds / time).toFixed(2)]) ??
        Array<string>(4).fill('-')),
      torch?.difference.toExponential(1) ?? '-',
    ];
  });
  return formatTextTable(header, lines, 0);
}

/** Prints the table of the bench. */
export async function benchLate(args: readonly string[]): Promise<void> {
  const { turns, questions, common, rounds, stored, peer, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; load ${loadavg()[0]?.toFixed(1)}; node ${process.version}; backend ${backend}`);
  const { turnTokens, questionTokens, dimension, seed } = common;
  console.log(
    `data: random tokens of length 1, ${turnTokens} of a turn and ${questionTokens} of a question, D ${dimension}, seed ${seed}; the fastest of ${rounds}`,
  );
  if (stored !== null) {
    const { bytes, peaks, seconds } = await measureStored({ ...common, turns: stored, questions: 1 });
    const formatMebibytes = (count: number) => `${(count / 2 ** 20).toFixed(0)} MiB`;
    console.log(
      `${stored} turns in both views: ${(bytes / 1e9).toFixed(2)} GB on disk, ${(bytes / stored).toFixed(0)} bytes a turn; in memory at most ${formatMebibytes(peaks.writing)} while they are written and ${formatMebibytes(peaks.asking)} for a question, which takes ${seconds.toFixed(1)} s a view`,
    );
    return;
  }
  const python = peer === 'torch' ? findTorch() : { missing: 'none was asked for' };
  const measurements: LateMeasurement[] = [];
  let bytes = 0;
  for (const size of turns)
    for (const count of questions) {
      const world = await drawLateWorld({ ...common, turns: size, questions: count });
      measurements.push(await measureLate(world, rounds, 'command' in python ? python : null));
      const stored = await readStoredTokens(world, 'turn');
      bytes = (stored.ids.byteLength + stored.scales.byteLength + stored.values.byteLength) / size;
      world.store.dispose();
    }
  console.log(`\n${formatLateTable(measurements)}\n`);
  console.log(`a turn takes ${bytes.toFixed(0)} bytes in the store; load at the end ${loadavg()[0]?.toFixed(1)}`);
  console.log(
    'GFLOP/s: of the whole score; its ratio is that of a product by itself to it, those of torch are our time to its time',
  );
  if ('missing' in python) console.log(`no peer: ${python.missing}`);
  for (const { sizes, torch } of measurements)
    if (torch !== undefined)
      console.log(
        `peer: torch ${torch.own.version}, ${sizes.turns} turns, ${sizes.questions} questions: ${[torch.one, torch.own].map(({ threads, way }) => `${threads} ${threads === 1 ? 'thread' : 'threads'}, ${way}`).join('; ')}`,
      );
}

function parseOptions(args: readonly string[]) {
  const describe = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: describe('600,5000'),
      questions: describe('1,64'),
      'turn-tokens': describe('38'),
      tokens: describe('14'),
      dimension: describe('384'),
      rounds: describe('5'),
      stored: { type: 'string' },
      peer: describe('torch'),
      seed: describe('7'),
      backend: describe('auto'),
    },
  });
  const list = (name: 'sizes' | 'questions') => values[name].split(',').map((word) => parsePositiveOption(name, word));
  const number = (name: 'turn-tokens' | 'tokens' | 'dimension' | 'rounds' | 'seed') =>
    parsePositiveOption(name, values[name]);
  const peer = PEERS.find((name) => name === values.peer);
  if (peer === undefined) throw new ValidationError(`unknown --peer: ${values.peer}; use one of ${PEERS.join(', ')}`);
  return {
    turns: list('sizes'),
    questions: list('questions'),
    common: {
      turnTokens: number('turn-tokens'),
      questionTokens: number('tokens'),
      dimension: number('dimension'),
      seed: number('seed'),
    },
    rounds: number('rounds'),
    stored: values.stored === undefined ? null : parsePositiveOption('stored', values.stored),
    peer,
    backend: values.backend as BackendChoice,
  };
}
