import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { getActiveBackend } from '../src/core/tensors/active-backend.ts';
import { BACKENDS, type BackendName, useBackend } from '../src/core/tensors/backend.ts';
import { type BackendWorkload, FULL_SIZES, listBackendWorkloads } from './backend-workloads.ts';
import { parsePositiveOption } from './integer-option.ts';
import { formatTextTable } from './text-table.ts';
import { median } from './timing.ts';

export const BACKENDS_USAGE = `backends [options]     the same work on several backends in turn: use-lite, learning, rerank and PageRank
    --backends B,B     of ${BACKENDS.join(', ')}; the others are compared with the first (default wasm,node)
    --rounds R         each backend once a round, of which the fastest counts; the ratio of the clock's times is the median of the rounds (default 5)`;

/** The minimum time of a round of a workload on one backend: a run of a millisecond is not reliable. */
const LEAST_MILLISECONDS = 300;

export interface BackendRow {
  readonly workload: string;
  readonly backend: BackendName;
  /** Milliseconds of a run on the wall clock: the fastest of each round. */
  readonly rounds: readonly number[];
  /** Milliseconds of the processor, of all threads: the least of a run. Other work on the machine hardly lengthens them. */
  readonly processor: number;
  /** The largest difference of a number to that of the first backend. */
  readonly difference: number;
}

interface Cost {
  readonly wall: number;
  readonly processor: number;
}

async function measureCost(run: () => Promise<unknown>): Promise<Cost> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(before); // microseconds
  return { wall: performance.now() - start, processor: (user + system) / 1000 };
}

async function measureLeastCost(repeats: number, run: () => Promise<unknown>): Promise<Cost> {
  let [wall, processor] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const cost = await measureCost(run);
    [wall, processor] = [Math.min(wall, cost.wall), Math.min(processor, cost.processor)];
  }
  return { wall, processor };
}

export function findLargestDifference(first: ArrayLike<number>, other: ArrayLike<number>): number {
  if (first.length !== other.length)
    throw new ValidationError(
      `backends return ${first.length} and ${other.length} numbers; report this as an error of the bench`,
    );
  let largest = 0;
  for (let i = 0; i < first.length; i++) largest = Math.max(largest, Math.abs(first[i]! - other[i]!)); // NaN comes through
  return largest;
}

/** Rounds in which every backend has its turn, since other work slows a machine for seconds at a time. */
export async function measureBackends(
  { name, open }: BackendWorkload,
  backends: readonly BackendName[],
  rounds: number,
  leastMilliseconds = LEAST_MILLISECONDS,
): Promise<BackendRow[]> {
  const opened = [];
  for (const backend of backends) {
    await useBackend(backend);
    const workload = await open();
    const start = performance.now();
    const result = await workload.run(); // warms up
    const repeats = Math.ceil(leastMilliseconds / Math.max(1, performance.now() - start));
    opened.push({ backend, workload, result, repeats, costs: [] as Cost[] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { backend, workload, repeats, costs } of opened) {
      await useBackend(backend);
      costs.push(await measureLeastCost(repeats, () => workload.run()));
    }
  }
  const rows: BackendRow[] = [];
  for (const { backend, workload, result, costs } of opened) {
    await useBackend(backend);
    workload.dispose();
    rows.push({
      workload: name,
      backend,
      rounds: costs.map(({ wall }) => wall),
      processor: Math.min(...costs.map(({ processor }) => processor)),
      difference: findLargestDifference(opened[0]!.result, result),
    });
  }
  return rows;
}

/** Prints the table of the bench. */
export async function benchBackends(args: readonly string[]): Promise<void> {
  const { backends, rounds } = parseOptions(args);
  console.log(`machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}`);
  for (const backend of backends) {
    await useBackend(backend);
    const { libtensorflow } = getActiveBackend();
    console.log(`backend ${backend}${libtensorflow === undefined ? '' : `, libtensorflow ${libtensorflow}`}`);
  }
  const load = loadavg()[0]!.toFixed(1);
  const rows: BackendRow[] = [];
  for (const workload of listBackendWorkloads(FULL_SIZES))
    rows.push(...(await measureBackends(workload, backends, rounds)));
  console.log(`\n${formatBackendTable(rows)}\n`);
  console.log(`times as fast: the median of ${rounds} rounds, from the least to the most`);
  console.log(`load ${load} at the start, ${loadavg()[0]!.toFixed(1)} at the end`);
}

function parseOptions(args: readonly string[]): { backends: BackendName[]; rounds: number } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backends: { type: 'string', default: 'wasm,node' },
      rounds: { type: 'string', default: '5' },
    },
  });
  const names = values.backends.split(',');
  const unknown = names.find((name) => !BACKENDS.includes(name as BackendName));
  if (unknown !== undefined)
    throw new ValidationError(
      `unknown backend in --backends: ${unknown}; use names of ${BACKENDS.join(', ')}, separated by commas`,
    );
  return { backends: names as BackendName[], rounds: parsePositiveOption('rounds', values.rounds) };
}

/** Three digits, never an exponent. */
export function formatThreeDigits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Milliseconds, and how many times as fast as the first backend in the same round. */
export function formatBackendTable(rows: readonly BackendRow[]): string {
  const header = [
    'workload',
    'backend',
    'fastest, ms',
    'processor, ms',
    'times as fast',
    'of the rounds',
    'largest difference',
  ];
  const lines = rows.map(({ workload, backend, rounds, processor, difference }) => {
    const first = rows.find((row) => row.workload === workload)!;
    const ratios = rounds.map((time, i) => first.rounds[i]! / time);
    const isFirst = first.backend === backend;
    return [
      workload,
      backend,
      formatThreeDigits(Math.min(...rounds)),
      formatThreeDigits(processor),
      isFirst ? '' : median(ratios).toFixed(2),
      isFirst ? '' : `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
      isFirst ? '' : difference.toExponential(1),
    ];
  });
  return formatTextTable(header, lines, 2);
}
