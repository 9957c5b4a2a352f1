import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { withTable } from '../src/cli/actions/publish.ts';
import { ValidationError } from '../src/core/errors/errors.ts';
import { assertNoLink, readText, writeAtomic } from '../src/core/files/files.ts';
import { measureCost } from '../src/core/tensors/active-backend.ts';
import { BACKENDS, type BackendChoice, type BackendName, useBackend } from '../src/core/tensors/backend.ts';
import { matmul } from '../src/core/tensors/matmul.ts';
import { scoped } from '../src/core/tensors/scope.ts';
import { quoteShellWord } from '../src/core/text/format.ts';
import type { Environment } from '../src/lab/measure/result.ts';
import { formatRowsAsPipeTable } from '../src/lab/report/tables/pipe-table.ts';
import { captureEnvironment } from '../src/lab/run/environment.ts';
import { describeDevice } from '../src/lab/verification/backend-proof.ts';
import type { BackendWorkload } from './backend-workloads.ts';
import { findLargestDifference, formatThreeDigits } from './backends.ts';
import { DEVICE_SIZES, type DeviceSize, listDeviceWorkloads, readRateSizes } from './device-workloads.ts';
import { parseIntegerOption, parsePositiveOption } from './integer-option.ts';
import { formatTextTable } from './text-table.ts';
import { timeRepeats } from './timing.ts';

export const DEVICE_USAGE = `device [options]   tensor workloads on one backend: time, share of the measured matmul and memory rates, launches, bytes, and the difference from cpu
    --size S           ${DEVICE_SIZES.join(', ')} (default small)
    --rounds R         of which the fastest counts (default 3)
    --seed S           from 0 (default 7)
    --json FILE        also writes the table there as JSON
    --document FILE    also writes the table into Markdown, between <!-- device/BACKEND --> and <!-- end of table -->
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

export interface DeviceOptions {
  readonly backend: BackendChoice;
  readonly size: DeviceSize;
  readonly rounds: number;
  readonly seed: number;
  /** Takes the name of each workload before its start. */
  readonly progress?: (text: string) => void;
}

export interface DeviceRow {
  readonly workload: string;
  /** The fastest round, with the read-back of the result. */
  readonly seconds: number;
  /** Operations a second, as a share of {@link DeviceReport.matmulRate}. */
  readonly matmulShare: number;
  /** Bytes a second, as a share of {@link DeviceReport.memoryRate}. */
  readonly memoryShare: number;
  readonly launches: number;
  /**
   * 2 M K N of products, also of those within {@link ATTEND}; of other kernels one for each number of inputs or outputs,
   * the larger.
   */
  readonly operations: number;
  /** Inputs and outputs of all kernels. */
  readonly bytes: number;
  /** The largest |a - b| of a number a of cpu and b of the backend, at `comparedSize`. */
  readonly difference: number;
  /** `difference` over the largest |a| of the workload, not over the |a| of the same number. */
  readonly relativeDifference: number;
}

export interface DeviceReport {
  readonly backend: BackendName;
  readonly device: string;
  readonly size: DeviceSize;
  /** cpu is too slow for `large`, which is compared at `small`. */
  readonly comparedSize: DeviceSize;
  readonly rounds: number;
  readonly seed: number;
  /** GFLOP/s of a large product. */
  readonly matmulRate: number;
  /** GB/s of a sum of two large arrays. */
  readonly memoryRate: number;
  readonly rows: readonly DeviceRow[];
}

/** Runs of an operation between two read-backs, so that a read-back hardly counts. */
export const QUEUED = 8;

/** Seconds of one `compute` among several; the read-back of one number waits for all of them. */
async function timeQueued(rounds: number, compute: () => tf.Tensor): Promise<number> {
  const { fastest } = await timeRepeats(rounds + 1, async () => {
    const last = scoped('queued', () => {
      for (let i = 1; i < QUEUED; i++) scoped('one', () => void compute());
      return tf.slice(tf.reshape(compute(), [-1]), 0, 1);
    });
    await last.data();
    last.dispose();
  });
  return fastest / 1000 / QUEUED;
}

async function measureRates(size: DeviceSize, rounds: number) {
  const { rows, numbers } = readRateSizes(size);
  const square = tf.randomUniform([rows, rows], 0, 1, 'float32', 1) as tf.Tensor2D;
  const [a, b] = [1, 2].map((seed) => tf.randomUniform([numbers], 0, 1, 'float32', seed)) as [tf.Tensor, tf.Tensor];
  const matmulRate = (2 * rows ** 3) / (await timeQueued(rounds, () => matmul(square, square))) / 1e9;
  const memoryRate = (3 * 4 * numbers) / (await timeQueued(rounds, () => tf.add(a, b))) / 1e9;
  tf.dispose([square, a, b]);
  return { matmulRate, memoryRate };
}

const PRODUCTS: ReadonlySet<string> = new Set(['BatchMatMul', '_FusedMatMul']);
/** The project's kernel of attention on wasm, of [R, 3 D] queries, keys and values: two products of R x length x D. */
const ATTEND = 'RagppBertAttend';
const listTensors = (value: unknown): tf.Tensor[] =>
  Object.values(value ?? {}).filter((one) => one instanceof tf.Tensor);
const sumSizes = (tensors: readonly tf.Tensor[]) => tensors.reduce((sum, { size }) => sum + size, 0);
const sumBytes = (tensors: readonly tf.Tensor[]) =>
  tensors.reduce((sum, { size, dtype }) => sum + size * tf.util.bytesPerElement(dtype), 0);

function countOperations(name: string, inputs: readonly tf.Tensor[], outputs: readonly tf.Tensor[], attrs: unknown) {
  if (name === ATTEND) return 4 * sumSizes(outputs) * (attrs as { readonly length: number }).length;
  if (!PRODUCTS.has(name)) return Math.max(sumSizes(inputs), sumSizes(outputs));
  const { transposeA } = attrs as { readonly transposeA?: boolean };
  return 2 * sumSizes(outputs) * inputs[0]!.shape.at(transposeA === true ? -2 : -1)!;
}

/**
 * Counts what its kernels read, compute and write: those of TensorFlow.js, and those of the project that it launches,
 * as for BERT on wasm. A kernel that shares its input's numbers is free. Not counted: what the host computes by itself,
 * such as coordinates, and `computeByteMaxima`, which none of the workloads calls.
 */
async function countWork(work: () => Promise<unknown>): Promise<Pick<DeviceRow, 'launches' | 'operations' | 'bytes'>> {
  const engine = tf.engine();
  const { runKernel } = engine;
  let [operations, bytes] = [0, 0];
  engine.runKernel = function count(name, inputs, attrs) {
    const result = runKernel.call(this, name, inputs, attrs);
    const [read, written] = [listTensors(inputs), listTensors(result instanceof tf.Tensor ? [result] : result)];
    if (written.some(({ dataId }) => read.some((input) => input.dataId === dataId))) return result as never;
    operations += countOperations(name, read, written, attrs);
    bytes += sumBytes(read) + sumBytes(written);
    return result as never;
  };
  try {
    const { all } = await measureCost(work);
    return { launches: all.launches, operations, bytes };
  } finally {
    engine.runKernel = runKernel;
  }
}

/** The numbers of each workload on a backend. */
async function computeResults(backend: BackendChoice, workloads: readonly BackendWorkload[]): Promise<Float64Array[]> {
  await useBackend(backend);
  const results: Float64Array[] = [];
  for (const { open } of workloads) {
    const opened = await open();
    results.push(Float64Array.from(await opened.run()));
    opened.dispose();
  }
  return results;
}

type Measured = Omit<DeviceRow, 'difference' | 'relativeDifference' | 'matmulShare' | 'memoryShare'>;

async function measureWorkload({ name, open }: BackendWorkload, rounds: number): Promise<Measured> {
  const opened = await open();
  await opened.run(); // warms up
  const work = await countWork(opened.run);
  const { fastest } = await timeRepeats(rounds, opened.run);
  opened.dispose();
  return { workload: name, seconds: fastest / 1000, ...work };
}

/** The differences of what a backend found from what is expected. */
function compareResults(expected: Float64Array, found: Float64Array) {
  const difference = findLargestDifference(expected, found);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return { difference, relativeDifference: difference === 0 ? 0 : difference / largest };
}

/** Measures a backend by the project's own work. Leaves the backend active. */
export async function measureDevice({
  backend: choice,
  size,
  rounds,
  seed,
  progress,
}: DeviceOptions): Promise<DeviceReport> {
  const backend = await useBackend(choice);
  const { matmulRate, memoryRate } = await measureRates(size, rounds);
  const measured: Measured[] = [];
  for (const workload of listDeviceWorkloads(size, seed)) {
    progress?.(workload.name);
    measured.push(await measureWorkload(workload, rounds));
  }
  const comparedSize: DeviceSize = size === 'large' ? 'small' : size;
  progress?.('the same on cpu');
  const compared = listDeviceWorkloads(comparedSize, seed);
  const expected = await computeResults('cpu', compared);
  const found = await computeResults(backend, compared);
  const rows = measured.map((row, i) => ({
    ...row,
    matmulShare: row.operations / row.seconds / 1e9 / matmulRate,
    memoryShare: row.bytes / row.seconds / 1e9 / memoryRate,
    ...compareResults(expected[i]!, found[i]!),
  }));
  return { backend, device: describeDevice(), size, comparedSize, rounds, seed, matmulRate, memoryRate, rows };
}

const HEADER = ['workload', 'seconds', 'of matmul', 'of memory', 'launches', 'MB moved', 'difference', 'relative'];

const listCells = (rows: readonly DeviceRow[]) =>
  rows.map((row) => [
    row.workload,
    row.seconds.toPrecision(3),
    `${(100 * row.matmulShare).toPrecision(2)} %`,
    `${(100 * row.memoryShare).toPrecision(2)} %`,
    `${row.launches}`,
    formatThreeDigits(row.bytes / 1e6),
    row.difference.toExponential(1),
    row.relativeDifference.toExponential(1),
  ]);

const describeRun = ({ backend, device, size, comparedSize, seed, rounds }: DeviceReport) =>
  `backend ${backend}, ${device}; size ${size}, compared with cpu at ${comparedSize}, seed ${seed}, the fastest of ${rounds}`;

const describeRates = ({ matmulRate, memoryRate }: DeviceReport) =>
  `matmul ${matmulRate.toFixed(1)} GFLOP/s, memory ${memoryRate.toFixed(1)} GB/s`;

export function formatDeviceTable(report: DeviceReport): string {
  const table = formatTextTable(HEADER, listCells(report.rows));
  return `${describeRun(report)}\n${describeRates(report)}\n\n${table}`;
}

/** The table for a document, with what it depends on. */
export function formatDeviceMarkdown(report: DeviceReport, { machine, node, commit, command }: Environment): string {
  const place = `${machine.cpu}, ${machine.cores} cores, node ${node}, commit ${commit}`;
  const made = `\`${command}\`:\n${describeRun(report)};\n${describeRates(report)}; ${place}.`;
  return `${made}\n\n${formatRowsAsPipeTable([HEADER, ...listCells(report.rows)])}`;
}

/** @throws ValidationError for an unknown one. */
export function parseDeviceSize(value: string): DeviceSize {
  const size = DEVICE_SIZES.find((name) => name === value);
  if (size === undefined) throw new ValidationError(`unknown --size: ${value}; use one of ${DEVICE_SIZES.join(', ')}`);
  return size;
}

/** The document with the table of a backend. @throws ValidationError for one without a place for the table. */
const withDeviceTable = (document: string, backend: BackendName, text: string) =>
  withTable(readText(document), `device/${backend}`, text);

/** Prints the table of the bench. */
export async function benchDevice(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'auto' },
      size: { type: 'string', default: 'small' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '7' },
      json: { type: 'string' },
      document: { type: 'string' },
    },
  });
  const { json, document } = values;
  const options = {
    size: parseDeviceSize(values.size),
    rounds: parsePositiveOption('rounds', values.rounds),
    seed: parseIntegerOption('seed', values.seed, 0),
    progress: console.error,
  };
  const backend = await useBackend(values.backend as BackendChoice);
  if (document !== undefined) {
    assertNoLink(document);
    withDeviceTable(document, backend, ''); // an error before the work
  }
  const report = await measureDevice({ backend, ...options });
  console.log(formatDeviceTable(report));
  const command = ['npm run -s bench -- device', ...args.map(quoteShellWord)].join(' ');
  const environment = captureEnvironment(backend, options.seed, command);
  if (json !== undefined) writeAtomic(json, `${JSON.stringify({ environment, ...report }, null, 2)}\n`);
  if (document !== undefined)
    writeAtomic(document, withDeviceTable(document, backend, formatDeviceMarkdown(report, environment)));
}
