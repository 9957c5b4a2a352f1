import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../src/core/errors/errors.ts';
import { activeBackend, BACKENDS, type BackendChoice } from '../src/core/tensors/backend.ts';
import { matmul } from '../src/core/tensors/matmul.ts';
import { readBack } from '../src/core/tensors/scope.ts';
import { createTerminalProgress } from '../src/core/terminal/progress.ts';
import type { RowAttention } from '../src/ops/attention/attention-rows.ts';
import { assertTolerance } from '../src/ops/attention/band.ts';
import { bandedRingAttention, DEFAULT_TOLERANCE } from '../src/ops/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../src/ops/attention/blockwise-ring-attention.ts';
import { BandedTorch, type TorchBand } from './attention-peer.ts';
import { OPTIONS, type Settings, Workload } from './attention-workload.ts';
import { runInChild } from './child.ts';
import { computeDoublingRatio, fitGrowthExponent } from './growth.ts';
import { parseIntegerOption } from './integer-option.ts';
import { parseNames } from './name-option.ts';
import { findTorch } from './peers/process.ts';
import { formatTextTable } from './text-table.ts';

export const ATTENTION_USAGE = `attention [options]   processor time and error of ring attention over one long conversation, banded and dense, and of banded torch on one thread, installed into a virtual environment where python3 has none
    --min-n N        turns of the shortest conversation (default 1024), doubled up to
    --max-n N        (default 65536)
    --max-dense N    longest for our dense form (default 4096)
    --max-torch N    longest for banded torch (default 65536), 0 for none
    --dimension D    (default 512)
    --tolerance T    of the band (default ${DEFAULT_TOLERANCE})
    --samples S      rows checked against float64 (default 16)
    --repeats R      rounds over all sizes, ours and torch in turn, of which the fastest counts, as others may use the machine (default 3)
    --seed S         (default 7)
    --backend B      auto, ${BACKENDS.join(', ')} (default auto)`;

/** One line of the table. */
interface AttentionRow {
  readonly name: string;
  readonly turns: number;
  /** Processor time of all threads. */
  readonly seconds: number;
  readonly bandWidth?: number;
  readonly bound?: number;
  /** Largest difference of a number in the sampled rows to float64. */
  readonly error: number;
  /** Operations of the products within the band, of each query with its own 2 W + 1 keys and values. */
  readonly operations?: number;
  readonly torch?: TorchBand;
  /** Largest difference of a number to torch. */
  readonly difference?: number;
}

/** The minimum total time of repetitions: a run of a few milliseconds is not reliable. */
const LEAST_SECONDS = 0.5;
/** Above this, torch computes something else: outputs are means of vectors of length 1, in float32. */
const MOST_DIFFERENCE = 1e-5;

/** @returns processor time of the fastest run */
async function timeFastest(work: () => Promise<unknown>): Promise<number> {
  let seconds = Number.POSITIVE_INFINITY;
  for (let passed = 0; passed < LEAST_SECONDS; ) {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    seconds = Math.min(seconds, (user + system) / 1e6);
    passed += (user + system) / 1e6;
  }
  return seconds;
}

/** @returns GFLOP/s, by processor time, of a product of [1024, 512] and [512, 1024], its operands on the device */
async function measureProductRate(): Promise<number> {
  const [a, b] = [tf.ones([1024, 512]) as tf.Tensor2D, tf.ones([512, 1024]) as tf.Tensor2D];
  const seconds = await timeFastest(() => readBack('product', () => matmul(a, b)));
  tf.dispose([a, b]);
  return (2 * 1024 * 512 * 1024) / seconds / 1e9;
}

/** @throws ValidationError if torch computes something else. */
async function compareWithTorch(torch: BandedTorch, { output, bandWidth }: RowAttention, turns: number) {
  const theirs = await torch.computeOutput(turns, bandWidth);
  const difference = output.reduce((most, value, i) => Math.max(most, Math.abs(value - (theirs[i] as number))), 0);
  if (!(difference <= MOST_DIFFERENCE))
    throw new ValidationError(
      `banded torch differs by ${difference} at ${turns} turns; compare the options of bench/peers/banded_ring_attention.py`,
    );
  return difference;
}

const attendBanded = (load: Workload, turns: number) =>
  bandedRingAttention(load.buildWorkloadRows(turns), OPTIONS, { tolerance: load.settings.tolerance });

async function describeBanded(load: Workload, turns: number, torch: BandedTorch | null): Promise<AttentionRow> {
  const result = await attendBanded(load, turns);
  const { method, output, bandWidth, errorBound } = result;
  const row = { turns, seconds: Number.POSITIVE_INFINITY, error: load.measureOutputError(turns, output), bandWidth };
  const bound = errorBound;
  if (method !== 'banded') return { ...row, name: 'banded, all keys', bound };
  const operations = 4 * turns * (2 * bandWidth + 1) * load.settings.dimension;
  const difference = torch === null ? undefined : await compareWithTorch(torch, result, turns);
  return { ...row, name: 'banded', bound, operations, ...(difference === undefined ? {} : { difference }) };
}

async function describeDense(load: Workload, turns: number): Promise<AttentionRow> {
  const output = await blockwiseRingAttention(load.buildWorkloadRows(turns), OPTIONS);
  return { name: 'dense', turns, seconds: Number.POSITIVE_INFINITY, error: load.measureOutputError(turns, output) };
}

const pickFaster = (a: TorchBand | undefined, b: TorchBand): TorchBand =>
  a === undefined || b.seconds < a.seconds ? b : a;

async function timeRow(load: Workload, row: AttentionRow, torch: BandedTorch | null): Promise<AttentionRow> {
  const { turns, bandWidth } = row;
  const work =
    row.name === 'dense'
      ? () => blockwiseRingAttention(load.buildWorkloadRows(turns), OPTIONS)
      : () => attendBanded(load, turns);
  const seconds = Math.min(row.seconds, await timeFastest(work));
  if (torch === null || bandWidth === undefined || row.difference === undefined) return { ...row, seconds };
  return { ...row, seconds, torch: pickFaster(row.torch, await torch.time(turns, bandWidth, LEAST_SECONDS)) };
}

/**
 * Compares values, then times rounds over all sizes: a machine may be slow for seconds, and a size that is slow in one
 * round is not in another.
 */
async function measureRows(load: Workload, torch: BandedTorch | null): Promise<AttentionRow[]> {
  const { maximum, maximumDense, maximumTorch, repeats } = load.settings;
  const rows: AttentionRow[] = [];
  for (const turns of load.listDoubledSizes(maximum))
    rows.push(await describeBanded(load, turns, turns <= maximumTorch ? torch : null));
  for (const turns of load.listDoubledSizes(maximumDense)) rows.push(await describeDense(load, turns));
  const progress = createTerminalProgress()('attention', rows.length * repeats);
  for (let round = 0; round < repeats; round++)
    for (const [i, row] of rows.entries()) {
      rows[i] = await timeRow(load, row, torch);
      progress.update(round * rows.length + i + 1);
    }
  progress.finish(`up to ${maximum} turns`);
  return rows;
}

/** Measures on the active backend. @returns the text that the bench prints */
export async function reportAttention(settings: Settings): Promise<string> {
  const { dimension, seed, tolerance, maximumTorch } = settings;
  const { combine, topology, decay, temperature } = OPTIONS;
  const backend = activeBackend();
  const load = new Workload(settings);
  const python = maximumTorch > 0 ? findTorch() : { missing: 'none was asked for' };
  const torch = 'command' in python ? new BandedTorch(python, load) : null;
  try {
    const rows = await measureRows(load, torch);
    const rate = await measureProductRate();
    const version = rows.find((row) => row.torch !== undefined)?.torch?.version ?? 'without a row';
    const peer =
      torch === null
        ? `no peer: ${'missing' in python ? python.missing : ''}`
        : `peer: torch ${version}, banded, 1 thread, the fastest of five blocks; its product: ${(await torch.measureProductRate()).toFixed(1)} GFLOP/s`;
    return [
      `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}; node ${process.version}; backend ${backend}`,
      `data: one conversation of unit vectors in 100 clusters, D ${dimension}, seed ${seed}; tolerance ${tolerance}`,
      `attention: ${combine}, ${topology}, decay ${decay}, temperature ${temperature}`,
      `\n${formatAttentionTable(rows, rate)}\n`,
      'seconds: processor time of all threads; limit: the products within the band alone, at the rate of a product',
      `a product of 1024 x 512 x 1024: ${rate.toFixed(1)} GFLOP/s on ${backend}`,
      peer,
      `at most ${(process.resourceUsage().maxRSS / 2 ** 20).toFixed(2)} GiB in memory`,
    ].join('\n');
  } finally {
    torch?.dispose();
  }
}

/**
 * Prints the table of the bench, measured in a process that has loaded nothing else: V8 marks a whole heap again and
 * again where outputs are large.
 */
export async function benchAttention(args: readonly string[]): Promise<void> {
  console.log(await runInChild<string>('./attention-child.ts', parseOptions(args) satisfies AttentionTask));
}

/** The message to the process that measures. */
export interface AttentionTask {
  readonly settings: Settings;
  readonly backend: BackendChoice;
}

function parseOptions(args: readonly string[]): AttentionTask {
  const describeTextOption = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      'min-n': describeTextOption('1024'),
      'max-n': describeTextOption('65536'),
      'max-dense': describeTextOption('4096'),
      'max-torch': describeTextOption('65536'),
      dimension: describeTextOption('512'),
      tolerance: describeTextOption(String(DEFAULT_TOLERANCE)),
      samples: describeTextOption('16'),
      repeats: describeTextOption('3'),
      seed: describeTextOption('7'),
      backend: describeTextOption('auto'),
    },
  });
  const parseAttentionInteger = (name: keyof typeof values, least: number) =>
    parseIntegerOption(name, values[name], least);
  const settings = {
    minimum: parseAttentionInteger('min-n', 1),
    maximum: parseAttentionInteger('max-n', 1),
    maximumDense: parseAttentionInteger('max-dense', 0),
    maximumTorch: parseAttentionInteger('max-torch', 0),
    dimension: parseAttentionInteger('dimension', 1),
    tolerance: Number(values.tolerance),
    samples: parseAttentionInteger('samples', 1),
    repeats: parseAttentionInteger('repeats', 1),
    seed: parseAttentionInteger('seed', 0),
  };
  assertTolerance(settings.tolerance);
  const [backend] = parseNames('backend', values.backend, ['auto', ...BACKENDS] as const);
  return { settings, backend: backend as BackendChoice };
}

/**
 * Times, their growth, errors, how many times the arithmetic of the band a method takes, and how many times the time of
 * torch; a dash where there is none.
 *
 * @param rate GFLOP/s of a product
 */
export function formatAttentionTable(rows: readonly AttentionRow[], rate: number): string {
  const listTurnTimes = (wanted: string) =>
    rows.filter(({ name }) => name === wanted).map(({ turns, seconds }) => ({ size: turns, seconds }));
  const header = ['method', 'turns', 'seconds', 'vs half', 'W', 'bound', 'max error', 'limit', 'times the limit'];
  const peerHeader = ['torch, seconds', 'its block', 'times torch', 'difference'];
  const lines = rows.map(({ name, turns, seconds, bandWidth, bound, error, operations, torch, difference }) => {
    const limit = operations === undefined ? undefined : operations / rate / 1e9;
    return [
      ...[name, `${turns}`, seconds.toFixed(4), computeDoublingRatio(listTurnTimes(name), turns)?.toFixed(2) ?? '-'],
      ...[bandWidth?.toString() ?? '-', bound?.toExponential(1) ?? '-', error.toExponential(1)],
      ...[limit?.toFixed(4) ?? '-', limit === undefined ? '-' : (seconds / limit).toFixed(2)],
      ...[torch?.seconds.toFixed(4) ?? '-', torch?.block.toString() ?? '-'],
      ...[torch === undefined ? '-' : (seconds / torch.seconds).toFixed(2), difference?.toExponential(1) ?? '-'],
    ];
  });
  const growth = [...new Set(rows.map(({ name }) => name))]
    .filter((name) => listTurnTimes(name).length > 1)
    .map((name) => `growth of ${name}: seconds ~ turns^${fitGrowthExponent(listTurnTimes(name)).toFixed(2)}`);
  return [formatTextTable([...header, ...peerHeader], lines), '', ...growth].join('\n');
}
