import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { AttentionRows, RowAttention } from '../src/attention/attention-rows.ts';
import { bandedRingAttention, DEFAULT_TOLERANCE } from '../src/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../src/attention/blockwise-ring-attention.ts';
import { RING_ATTENTION_DEFAULTS } from '../src/attention/options.ts';
import { referenceRow } from '../src/attention/reference-row.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/backend.ts';
import { ValidationError } from '../src/core/errors.ts';
import { terminalProgress } from '../src/core/progress.ts';
import { type PeerReport, runTorch } from './attention-peer.ts';
import { clusteredVectors } from './clustered-vectors.ts';
import { doublingRatio, growthExponent } from './growth.ts';
import { findPython } from './peers/python.ts';

const OPTIONS = RING_ATTENTION_DEFAULTS;

export const ATTENTION_USAGE = `attention [options]   time and error of ring attention over one long conversation: banded, dense, and dense torch where python3 imports it
    --min-n N        turns of the shortest conversation (default 1024), doubled up to
    --max-n N        (default 65536)
    --max-dense N    longest for our dense form (default 4096)
    --max-torch N    longest for dense torch (default 16384), 0 for none
    --dimension D    (default 512)
    --tolerance T    of the band (default ${DEFAULT_TOLERANCE})
    --samples S      rows checked against float64 (default 16)
    --repeats R      of which the median is taken, of banded only (default 3)
    --seed S         (default 7)
    --backend B      auto, ${BACKENDS.join(', ')} (default auto)`;

interface Settings {
  readonly minimum: number;
  readonly maximum: number;
  readonly maximumDense: number;
  readonly maximumTorch: number;
  readonly dimension: number;
  readonly tolerance: number;
  readonly samples: number;
  readonly repeats: number;
  readonly seed: number;
}

/** One line of the table. */
export interface AttentionRow {
  readonly name: string;
  readonly turns: number;
  readonly seconds: number;
  readonly bandWidth?: number;
  readonly bound?: number;
  /** Largest difference of a number in the sampled rows to float64. */
  readonly error: number;
}

/** Some of the same conversation's turns, the first and the last among them. */
function samplesOf(turns: number, count: number): number[] {
  const last = Math.min(count, turns) - 1;
  return Array.from({ length: last + 1 }, (_, i) => (last === 0 ? 0 : Math.round((i * (turns - 1)) / last)));
}

class Workload {
  readonly settings: Settings;
  readonly embeddings: Float32Array;
  readonly #exact = new Map<number, Float64Array[]>();

  constructor(settings: Settings) {
    this.settings = settings;
    this.embeddings = clusteredVectors(settings.maximum, settings.dimension, settings.seed, 'turns');
  }

  /** Sizes from the least, doubled, up to `most`. */
  sizes(most: number): number[] {
    const { minimum, maximum } = this.settings;
    const sizes: number[] = [];
    for (let turns = minimum; turns <= Math.min(maximum, most); turns *= 2) sizes.push(turns);
    return sizes;
  }

  rows(turns: number): AttentionRows {
    const rows = this.embeddings.subarray(0, turns * this.settings.dimension);
    return { turns, queries: rows, keys: rows, values: rows };
  }

  samples(turns: number): number[] {
    return samplesOf(turns, this.settings.samples);
  }

  /** @param rowOf the k-th sampled row */
  errorOf(turns: number, rowOf: (sample: number, k: number) => Float32Array): number {
    const samples = this.samples(turns);
    const exact = this.#exact.get(turns) ?? samples.map((i) => referenceRow(this.rows(turns), OPTIONS, i));
    this.#exact.set(turns, exact);
    const errors = samples.flatMap((sample, k) => {
      const row = rowOf(sample, k);
      return [...exact[k]!].map((value, d) => Math.abs(value - row[d]!));
    });
    return errors.reduce((a, b) => (b <= a ? a : b), 0); // NaN comes through
  }

  errorOfOutput(turns: number, output: Float32Array): number {
    const { dimension } = this.settings;
    return this.errorOf(turns, (i) => output.subarray(i * dimension, (i + 1) * dimension));
  }
}

async function secondsOf<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { seconds: (performance.now() - start) / 1000, result };
}

async function timeBanded(load: Workload, turns: number): Promise<AttentionRow> {
  const { tolerance, repeats } = load.settings;
  const times: number[] = [];
  let attention: RowAttention | undefined;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const { seconds, result } = await secondsOf(() => bandedRingAttention(load.rows(turns), OPTIONS, { tolerance }));
    times.push(seconds);
    attention = result;
  }
  times.sort((a, b) => a - b);
  const { method, output, bandWidth, errorBound } = attention!;
  const shared = { turns, seconds: times[repeats >> 1]!, error: load.errorOfOutput(turns, output) };
  return { ...shared, name: method === 'banded' ? 'banded' : 'banded, all keys', bandWidth, bound: errorBound };
}

async function timeDense(load: Workload, turns: number): Promise<AttentionRow> {
  const { seconds, result } = await secondsOf(() => blockwiseRingAttention(load.rows(turns), OPTIONS));
  return { name: 'dense', turns, seconds, error: load.errorOfOutput(turns, result) };
}

function torchRows(load: Workload, report: PeerReport): AttentionRow[] {
  const { dimension } = load.settings;
  return report.measurements.map(({ turns, seconds, rows }) => {
    const error = load.errorOf(turns, (_, k) => rows.subarray(k * dimension, (k + 1) * dimension));
    return { name: 'dense torch', turns, seconds, error };
  });
}

function askTorch(load: Workload): { rows: AttentionRow[]; remark: string } {
  const sizes = load.sizes(load.settings.maximumTorch).map((turns) => ({ turns, samples: load.samples(turns) }));
  if (sizes.length === 0) return { rows: [], remark: 'no peer was asked for' };
  const python = findPython(['torch']);
  if ('missing' in python) return { rows: [], remark: `no peer: ${python.missing} libopenblas0-pthread` };
  const report = runTorch(load.embeddings, load.settings.dimension, sizes, OPTIONS);
  const isReference = report.blas.startsWith('libblas.so');
  const advice = isReference
    ? ', the reference BLAS, far from the fastest: apt-get install -y libopenblas0-pthread'
    : '';
  return {
    rows: torchRows(load, report),
    remark: `peer: ${python.versions}, ${report.threads} thread(s), products by ${report.blas}${advice}`,
  };
}

async function timeAll(
  stage: string,
  sizes: readonly number[],
  time: (turns: number) => Promise<AttentionRow>,
): Promise<AttentionRow[]> {
  const progress = terminalProgress()(stage, sizes.length);
  const rows: AttentionRow[] = [];
  for (const turns of sizes) {
    rows.push(await time(turns));
    progress.update(rows.length);
  }
  progress.finish(`up to ${sizes.at(-1) ?? 0} turns`);
  return rows;
}

/** Prints the table of the bench. */
export async function benchAttention(args: readonly string[]): Promise<void> {
  const { settings, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const { dimension, seed, tolerance, maximum, maximumDense } = settings;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; node ${process.version}; backend ${backend}`);
  console.log(
    `data: one conversation of unit vectors in 100 clusters, D ${dimension}, seed ${seed}; tolerance ${tolerance}`,
  );
  const { combine, topology, decay, temperature } = OPTIONS;
  console.log(`attention: ${combine}, ${topology}, decay ${decay}, temperature ${temperature}`);
  const load = new Workload(settings);
  await bandedRingAttention(load.rows(Math.min(maximum, 1024)), OPTIONS, { tolerance }); // warms up
  const banded = await timeAll('banded', load.sizes(maximum), (turns) => timeBanded(load, turns));
  const memory = process.resourceUsage().maxRSS / 2 ** 20;
  const dense = await timeAll('dense', load.sizes(maximumDense), (turns) => timeDense(load, turns));
  const torch = askTorch(load);
  console.log(`\n${formatAttentionTable([...banded, ...dense, ...torch.rows])}\n`);
  console.log(`banded: at most ${memory.toFixed(2)} GiB in memory, the inputs and one output included`);
  console.log(torch.remark);
}

function parseOptions(args: readonly string[]): { settings: Settings; backend: BackendChoice } {
  const text = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      'min-n': text('1024'),
      'max-n': text('65536'),
      'max-dense': text('4096'),
      'max-torch': text('16384'),
      dimension: text('512'),
      tolerance: text(String(DEFAULT_TOLERANCE)),
      samples: text('16'),
      repeats: text('3'),
      seed: text('7'),
      backend: text('auto'),
    },
  });
  const integer = (name: keyof typeof values, least: number) => {
    const number = Number(values[name]);
    if (!Number.isInteger(number) || number < least)
      throw new ValidationError(`--${name} must be an integer from ${least}: ${values[name]}`);
    return number;
  };
  const settings = {
    minimum: integer('min-n', 1),
    maximum: integer('max-n', 1),
    maximumDense: integer('max-dense', 0),
    maximumTorch: integer('max-torch', 0),
    dimension: integer('dimension', 1),
    tolerance: Number(values.tolerance),
    samples: integer('samples', 1),
    repeats: integer('repeats', 1),
    seed: integer('seed', 0),
  };
  return { settings, backend: values.backend as BackendChoice };
}

/** Times, their growth, errors, and how many times as fast as dense torch at the same size; a dash where there is nothing to compare with. */
export function formatAttentionTable(rows: readonly AttentionRow[]): string {
  const torch = new Map(rows.filter(({ name }) => name === 'dense torch').map((row) => [row.turns, row.seconds]));
  const timesOf = (wanted: string) =>
    rows.filter(({ name }) => name === wanted).map(({ turns, seconds }) => ({ size: turns, seconds }));
  const header = ['method', 'turns', 'seconds', 'vs half', 'W', 'bound', 'max error', 'times faster than torch'];
  const lines = rows.map(({ name, turns, seconds, bandWidth, bound, error }) => {
    const peer = torch.get(turns);
    return [
      name,
      `${turns}`,
      seconds.toFixed(3),
      doublingRatio(timesOf(name), turns)?.toFixed(2) ?? '-',
      bandWidth?.toString() ?? '-',
      bound?.toExponential(1) ?? '-',
      error.toExponential(1),
      peer === undefined ? '-' : (peer / seconds).toFixed(2),
    ];
  });
  const widths = header.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]!.length)));
  const pad = (cells: string[]) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ');
  const growth = [...new Set(rows.map(({ name }) => name))]
    .filter((name) => timesOf(name).length > 1)
    .map((name) => `growth of ${name}: seconds ~ turns^${growthExponent(timesOf(name)).toFixed(2)}`);
  return [...[header, widths.map((width) => '-'.repeat(width)), ...lines].map(pad), '', ...growth].join('\n');
}
