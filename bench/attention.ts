import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { createTerminalProgress } from '../src/core/terminal/progress.ts';
import type { RowAttention } from '../src/ops/attention/attention-rows.ts';
import { bandedRingAttention, DEFAULT_TOLERANCE } from '../src/ops/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../src/ops/attention/blockwise-ring-attention.ts';
import { type PeerReport, runTorch } from './attention-peer.ts';
import { OPTIONS, type Settings, Workload } from './attention-workload.ts';
import { computeDoublingRatio, fitGrowthExponent } from './growth.ts';
import { parseIntegerOption } from './integer-option.ts';
import { findPython } from './peers/python.ts';
import { formatTextTable } from './text-table.ts';

export const ATTENTION_USAGE = `attention [options]   time and error of ring attention over one long conversation: banded, dense, and dense torch where python3 imports it
    --min-n N        turns of the shortest conversation (default 1024), doubled up to
    --max-n N        (default 65536)
    --max-dense N    longest for our dense form (default 4096)
    --max-torch N    longest for dense torch (default 16384), 0 for none
    --dimension D    (default 512)
    --tolerance T    of the band (default ${DEFAULT_TOLERANCE})
    --samples S      rows checked against float64 (default 16)
    --repeats R      rounds over all sizes, of which the fastest counts, as others may use the machine; of torch as many in a row as fit into 10 s (default 3)
    --seed S         (default 7)
    --backend B      auto, ${BACKENDS.join(', ')} (default auto)`;

/** One line of the table. */
interface AttentionRow {
  readonly name: string;
  readonly turns: number;
  readonly seconds: number;
  readonly bandWidth?: number;
  readonly bound?: number;
  /** Largest difference of a number in the sampled rows to float64. */
  readonly error: number;
}

/** The minimum total time of repetitions: a run of a few milliseconds is not reliable. */
const LEAST_SECONDS = 0.5;

async function timeFastest<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  let seconds = Number.POSITIVE_INFINITY;
  const started = performance.now();
  for (;;) {
    const start = performance.now();
    const result = await work();
    const end = performance.now();
    seconds = Math.min(seconds, (end - start) / 1000);
    if (end - started >= LEAST_SECONDS * 1000) return { seconds, result };
  }
}

/** A method of attention, and its figures besides its time. */
interface Method<T> {
  attend(turns: number): Promise<T>;
  describe(turns: number, result: T): Omit<AttentionRow, 'turns' | 'seconds'>;
}

function createBandedMethod(load: Workload): Method<RowAttention> {
  const { tolerance } = load.settings;
  return {
    attend: (turns) => bandedRingAttention(load.buildWorkloadRows(turns), OPTIONS, { tolerance }),
    describe: (turns, { method, output, bandWidth, errorBound }) => ({
      name: method === 'banded' ? 'banded' : 'banded, all keys',
      error: load.measureOutputError(turns, output),
      bandWidth,
      bound: errorBound,
    }),
  };
}

function createDenseMethod(load: Workload): Method<Float32Array> {
  return {
    attend: (turns) => blockwiseRingAttention(load.buildWorkloadRows(turns), OPTIONS),
    describe: (turns, output) => ({ name: 'dense', error: load.measureOutputError(turns, output) }),
  };
}

function readTorchRows(load: Workload, report: PeerReport): AttentionRow[] {
  const { dimension } = load.settings;
  return report.measurements.map(({ turns, seconds, rows }) => {
    const error = load.measureRowError(turns, (_, k) => rows.subarray(k * dimension, (k + 1) * dimension));
    return { name: 'dense torch', turns, seconds, error };
  });
}

function askTorch(load: Workload): { rows: AttentionRow[]; remark: string } {
  const sizes = load
    .listDoubledSizes(load.settings.maximumTorch)
    .map((turns) => ({ turns, samples: load.pickSamples(turns) }));
  if (sizes.length === 0) return { rows: [], remark: 'no peer was asked for' };
  const python = findPython(['torch']);
  if ('missing' in python) return { rows: [], remark: `no peer: ${python.missing} libopenblas0-pthread` };
  const report = runTorch(python, load, sizes);
  const isReference = report.blas.startsWith('libblas.so');
  const advice = isReference
    ? ', the reference BLAS, far from the fastest: apt-get install -y libopenblas0-pthread'
    : '';
  return {
    rows: readTorchRows(load, report),
    remark: `peer: ${python.versions}, ${report.threads} thread(s), products by ${report.blas}${advice}`,
  };
}

/** Rounds over all sizes, since a machine may be slow for seconds: a size that is slow in one round is not in another. */
async function timeAll<T>(
  stage: string,
  sizes: readonly number[],
  repeats: number,
  { attend, describe }: Method<T>,
): Promise<AttentionRow[]> {
  const progress = createTerminalProgress()(stage, sizes.length * repeats);
  const rows = new Map<number, AttentionRow>();
  for (let round = 0; round < repeats; round++) {
    for (const [i, turns] of sizes.entries()) {
      const { seconds, result } = await timeFastest(() => attend(turns));
      const row = rows.get(turns) ?? { turns, seconds, ...describe(turns, result) };
      rows.set(turns, { ...row, seconds: Math.min(row.seconds, seconds) });
      progress.update(round * sizes.length + i + 1);
    }
  }
  progress.finish(`up to ${sizes.at(-1) ?? 0} turns`);
  return [...rows.values()];
}

/** Prints the table of the bench. */
export async function benchAttention(args: readonly string[]): Promise<void> {
  const { settings, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const { dimension, seed, tolerance, maximum, maximumDense, repeats } = settings;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; node ${process.version}; backend ${backend}`);
  console.log(
    `data: one conversation of unit vectors in 100 clusters, D ${dimension}, seed ${seed}; tolerance ${tolerance}`,
  );
  const { combine, topology, decay, temperature } = OPTIONS;
  console.log(`attention: ${combine}, ${topology}, decay ${decay}, temperature ${temperature}`);
  const load = new Workload(settings);
  await bandedRingAttention(load.buildWorkloadRows(Math.min(maximum, 1024)), OPTIONS, { tolerance }); // warms up
  const bandedRows = await timeAll('banded', load.listDoubledSizes(maximum), repeats, createBandedMethod(load));
  const memory = process.resourceUsage().maxRSS / 2 ** 20;
  const denseRows = await timeAll('dense', load.listDoubledSizes(maximumDense), repeats, createDenseMethod(load));
  const torch = askTorch(load);
  console.log(`\n${formatAttentionTable([...bandedRows, ...denseRows, ...torch.rows])}\n`);
  console.log(`banded: at most ${memory.toFixed(2)} GiB in memory, the inputs and one output included`);
  console.log(torch.remark);
}

function parseOptions(args: readonly string[]): { settings: Settings; backend: BackendChoice } {
  const describeTextOption = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      'min-n': describeTextOption('1024'),
      'max-n': describeTextOption('65536'),
      'max-dense': describeTextOption('4096'),
      'max-torch': describeTextOption('16384'),
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
  return { settings, backend: values.backend as BackendChoice };
}

/** Times, their growth, errors, and how many times as fast as dense torch at the same size; a dash without a peer. */
export function formatAttentionTable(rows: readonly AttentionRow[]): string {
  const torch = new Map(rows.filter(({ name }) => name === 'dense torch').map((row) => [row.turns, row.seconds]));
  const listTurnTimes = (wanted: string) =>
    rows.filter(({ name }) => name === wanted).map(({ turns, seconds }) => ({ size: turns, seconds }));
  const header = ['method', 'turns', 'seconds', 'vs half', 'W', 'bound', 'max error', 'times faster than torch'];
  const lines = rows.map(({ name, turns, seconds, bandWidth, bound, error }) => {
    const peer = torch.get(turns);
    return [
      name,
      `${turns}`,
      seconds.toFixed(3),
      computeDoublingRatio(listTurnTimes(name), turns)?.toFixed(2) ?? '-',
      bandWidth?.toString() ?? '-',
      bound?.toExponential(1) ?? '-',
      error.toExponential(1),
      peer === undefined ? '-' : (peer / seconds).toFixed(2),
    ];
  });
  const growth = [...new Set(rows.map(({ name }) => name))]
    .filter((name) => listTurnTimes(name).length > 1)
    .map((name) => `growth of ${name}: seconds ~ turns^${fitGrowthExponent(listTurnTimes(name)).toFixed(2)}`);
  return [formatTextTable(header, lines), '', ...growth].join('\n');
}
