import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { bandedRingAttention, DEFAULT_TOLERANCE } from '../src/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../src/attention/blockwise-ring-attention.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/backend.ts';
import { ValidationError } from '../src/core/errors.ts';
import { terminalProgress } from '../src/core/progress.ts';
import { type PeerReport, runTorch } from './attention-peer.ts';
import { OPTIONS, type Settings, Workload } from './attention-workload.ts';
import { doublingRatio, growthExponent } from './growth.ts';
import { findPython } from './peers/python.ts';

export const ATTENTION_USAGE = `attention [options]   time and error of ring attention over one long conversation: banded, dense, and dense torch where python3 imports it
    --min-n N        turns of the shortest conversation (default 1024), doubled up to
    --max-n N        (default 65536)
    --max-dense N    longest for our dense form (default 4096)
    --max-torch N    longest for dense torch (default 16384), 0 for none
    --dimension D    (default 512)
    --tolerance T    of the band (default ${DEFAULT_TOLERANCE})
    --samples S      rows checked against float64 (default 16)
    --repeats R      of which the fastest counts, as others may use the machine; more of what takes less than 1 s together; of torch as many as fit into 10 s (default 3)
    --seed S         (default 7)
    --backend B      auto, ${BACKENDS.join(', ')} (default auto)`;

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

/** What is repeated takes at least so long together: a run of a few milliseconds says little. */
const LEAST_SECONDS = 1;

async function fastest<T>(repeats: number, work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  let seconds = Number.POSITIVE_INFINITY;
  const started = performance.now();
  for (let repeat = 1; ; repeat++) {
    const start = performance.now();
    const result = await work();
    const end = performance.now();
    seconds = Math.min(seconds, (end - start) / 1000);
    if (repeat >= repeats && end - started >= LEAST_SECONDS * 1000) return { seconds, result };
  }
}

async function timeBanded(load: Workload, turns: number): Promise<AttentionRow> {
  const { tolerance, repeats } = load.settings;
  const attend = () => bandedRingAttention(load.rows(turns), OPTIONS, { tolerance });
  const { seconds, result } = await fastest(repeats, attend);
  const { method, output, bandWidth, errorBound } = result;
  const shared = { turns, seconds, error: load.errorOfOutput(turns, output) };
  return { ...shared, name: method === 'banded' ? 'banded' : 'banded, all keys', bandWidth, bound: errorBound };
}

async function timeDense(load: Workload, turns: number): Promise<AttentionRow> {
  const attend = () => blockwiseRingAttention(load.rows(turns), OPTIONS);
  const { seconds, result } = await fastest(load.settings.repeats, attend);
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
  const report = runTorch(python, load, sizes);
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
