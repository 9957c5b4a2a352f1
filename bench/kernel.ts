import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createTerminalProgress } from '../src/core/terminal/progress.ts';
import { createHttpAuthority } from '../src/kernel/client/http-authority.ts';
import { runInChild } from './child.ts';
import { parsePositiveOption } from './integer-option.ts';
import type { ClientFigures, KernelTask } from './kernel-child.ts';
import { drawAnchors, type KernelData, SHAPES, summarisePercentiles } from './kernel-data.ts';
import { HOSTILE_BODIES, measureOther } from './kernel-hostile.ts';
import type { RetrievalFigures, RetrievalTask, ServedKernel } from './kernel-retrieval.ts';
import type { SigningFigures } from './kernel-signing.ts';
import { parseNames } from './name-option.ts';
import { formatTextTable } from './text-table.ts';

const PARTS = ['http', 'signing', 'cache', 'retrieval', 'hostile'] as const;
type Part = (typeof PARTS)[number];

export const KERNEL_USAGE = `kernel [options]       signed slices: over HTTP between two processes, the parts within one, the cache, searches with and without slices, and what others wait for hostile requests
    --turns N,M    of the conversation (default 50,1000,10000,100000)
    --shapes LIST  some of ${SHAPES.join(',')}: replies to one of the 8 turns before, at every size, and to the first turn, at the largest (default both)
    --connections C,D (default 1,8,64)
    --max-nodes K  turns of a slice (default 250)
    --seconds T    of each measurement over HTTP (default 3)
    --repeats R    of each part within one process (default 3000)
    --seed S       (default 7)
    --only PARTS   some of ${PARTS.join(',')} (default all)`;

interface Options {
  readonly turns: readonly number[];
  readonly connections: readonly number[];
  readonly maxNodes: number;
  readonly seconds: number;
  readonly repeats: number;
  readonly seed: number;
  readonly parts: readonly Part[];
  readonly shapes: readonly KernelData['shape'][];
}

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      turns: { type: 'string', default: '50,1000,10000,100000' },
      connections: { type: 'string', default: '1,8,64' },
      'max-nodes': { type: 'string', default: '250' },
      seconds: { type: 'string', default: '3' },
      repeats: { type: 'string', default: '3000' },
      seed: { type: 'string', default: '7' },
      shapes: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const parseList = (name: 'turns' | 'connections') =>
    values[name].split(',').map((text) => parsePositiveOption(name, text));
  return {
    ...{ turns: parseList('turns'), connections: parseList('connections') },
    parts: parseNames('only', values.only, PARTS),
    shapes: parseNames('shapes', values.shapes, SHAPES),
    maxNodes: parsePositiveOption('max-nodes', values['max-nodes']),
    seconds: parsePositiveOption('seconds', values.seconds),
    repeats: parsePositiveOption('repeats', values.repeats),
    seed: parsePositiveOption('seed', values.seed),
  };
}

/** Trees of every size, and a star of the largest. */
function listData({ turns, shapes, seed, maxNodes }: Options, cacheEntries: number): KernelData[] {
  return shapes.flatMap((shape) =>
    (shape === 'star' ? [Math.max(...turns)] : turns).map((count) => ({
      ...{ shape, turns: count, seed, maxNodes, cacheEntries },
    })),
  );
}

/** Calls `work` while a kernel serves in a process of its own. */
async function withKernel<T>(data: KernelData, work: (kernel: ServedKernel) => Promise<T>): Promise<T> {
  const task: KernelTask = { serve: data };
  const child: ChildProcess = fork(
    fileURLToPath(new URL('./kernel-child.ts', import.meta.url)),
    [JSON.stringify(task)],
    {
      execArgv: ['--import', 'tsx'],
    },
  );
  try {
    const [kernel] = (await once(child, 'message')) as [ServedKernel];
    return await work(kernel);
  } finally {
    if (child.connected) child.disconnect();
  }
}

const runClient = (client: Extract<KernelTask, { client: unknown }>['client']) =>
  runInChild<ClientFigures>('./kernel-child.ts', { client } satisfies KernelTask);

const formatTime = (milliseconds: number) => milliseconds.toFixed(milliseconds < 1 ? 3 : 2);
const formatFigures = ({ perSecond, p50, p95, p99 }: Omit<ClientFigures, 'turns'>) => [
  perSecond.toFixed(0),
  ...[p50, p95, p99].map(formatTime),
];

async function measureHttp(options: Options): Promise<string> {
  const { connections, seconds, seed } = options;
  const rows: string[][] = [];
  const progress = createTerminalProgress()('http', listData(options, 0).length * connections.length);
  for (const data of listData(options, 0))
    await withKernel(data, async (kernel) => {
      for (const count of connections) {
        const client = { ...kernel, turns: data.turns, seed, connections: count, seconds, skew: 1 };
        const figures = await runClient(client);
        rows.push([data.shape, `${data.turns}`, `${count}`, figures.turns.toFixed(0), ...formatFigures(figures)]);
        progress.update(rows.length);
      }
    });
  progress.finish();
  return formatTextTable(
    ['over HTTP, no cache', 'turns', 'connections', 'turns of a slice', 'slices/s', 'p50 ms', 'p95 ms', 'p99 ms'],
    rows,
  );
}

async function measureParts(options: Options): Promise<string> {
  const rows: string[][] = [];
  for (const { cacheEntries: _, ...data } of listData(options, 0)) {
    const task: KernelTask = { signing: { ...data, repeats: options.repeats } };
    const { turns, parts } = await runInChild<SigningFigures>('./kernel-child.ts', task);
    for (const [part, { p50, p95, p99 }] of Object.entries(parts))
      rows.push([part, data.shape, `${data.turns}`, `${turns}`, ...[p50, p95, p99].map((value) => value.toFixed(4))]);
  }
  return formatTextTable(
    ['within one process', 'shape', 'turns', 'turns of a slice', 'p50 ms', 'p95 ms', 'p99 ms'],
    rows,
    2,
  );
}

/** The share of questions that a cache of 1,000 slices answers if a few turns are asked about more often: u^3 of a uniform u. */
const CACHED = 1000;
const SKEW = 3;

async function readHitRate(baseUrl: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^ragpp_kernel_cache_${name}_total (\\d+)$`, 'm').exec(text)?.[1]);
  return read('hits') / (read('hits') + read('misses'));
}

async function measureCache(options: Options): Promise<string> {
  const { seconds, seed } = options;
  const rows: string[][] = [];
  for (const cacheEntries of [0, CACHED])
    for (const data of listData(options, cacheEntries))
      await withKernel(data, async (kernel) => {
        const client = { ...kernel, turns: data.turns, seed, connections: 8, seconds, skew: SKEW };
        const figures = await runClient(client);
        const hits = `${(100 * (await readHitRate(kernel.baseUrl))).toFixed(1)} %`;
        rows.push([`${cacheEntries}`, data.shape, `${data.turns}`, hits, ...formatFigures(figures)]);
      });
  return formatTextTable(
    ['slices kept, 8 connections', 'shape', 'turns', 'known', 'slices/s', 'p50 ms', 'p95 ms', 'p99 ms'],
    rows,
    2,
  );
}

/** Of this many turns an index is searched. */
const MOST_SEARCHED = 10_000;

/** The same searches in the same process, without slices, with slices that are walked, and with slices of which most are kept. */
async function measureSearches(options: Options): Promise<string> {
  const turns = Math.max(...options.turns.filter((count) => count <= MOST_SEARCHED), Math.min(...options.turns));
  const data: KernelData = { shape: 'tree', turns, seed: options.seed, maxNodes: options.maxNodes, cacheEntries: 0 };
  const { connections, seconds } = options;
  const figures = await withKernel(data, (walking) =>
    withKernel({ ...data, cacheEntries: CACHED }, (keeping) => {
      const kernels = [
        { kernel: walking, skew: 1 },
        { kernel: keeping, skew: SKEW },
      ];
      const task: RetrievalTask = { data, kernels, connections, seconds };
      return runInChild<RetrievalFigures[]>('./kernel-child.ts', { retrieval: task } satisfies KernelTask);
    }),
  );
  const rows = figures.map((one) => {
    const { kernel, parts } = one;
    const alone = figures.find((other) => other.kernel === null && other.connections === one.connections)!;
    const spent = parts === null ? ['', '', ''] : [parts.slice, parts.verify, parts.search].map(formatTime);
    return [
      kernel === null ? 'no slices' : ['slices, none kept', `slices, ${CACHED} kept`][kernel]!,
      `${one.connections}`,
      ...formatFigures(one),
      ...spent,
      (one.perSecond / alone.perSecond).toFixed(2),
    ];
  });
  return formatTextTable(
    [
      ...[`hnsw, ${turns} turns`, 'at once', 'searches/s', 'p50 ms', 'p95 ms', 'p99 ms'],
      ...['slice p50', 'verify p50', 'search p50', '× no slices'],
    ],
    rows,
  );
}

/** The wait of a client with small questions, while another sends the largest bodies that a kernel reads. */
async function measureWaits(options: Options): Promise<string> {
  const [turns, connections, seconds] = [Math.min(...options.turns), Math.max(...options.connections), options.seconds];
  const data: KernelData = {
    shape: 'tree',
    turns,
    seed: options.seed,
    maxNodes: options.maxNodes,
    cacheEntries: CACHED,
  };
  const rows: string[][] = [];
  await withKernel(data, async ({ baseUrl, policyRef }) => {
    for (const name of Object.keys(HOSTILE_BODIES))
      for (const count of new Set([1, connections])) {
        const authority = createHttpAuthority({ baseUrl, timeoutSeconds: 60 });
        const request = { policyRef, scope: { anchorTurnId: drawAnchors(turns, 1, options.seed)[0]! } };
        const slice = await authority.slice(request);
        const hostile = { baseUrl, slice, name, connections: count, seconds };
        const sent = runInChild<number>('./kernel-child.ts', { hostile } satisfies KernelTask);
        const times = await measureOther(() => authority.slice(request), sent);
        authority.close();
        const { p50, p99 } = summarisePercentiles(times);
        rows.push([name, `${count}`, `${await sent}`, ...[p50, p99, Math.max(...times)].map(formatTime)]);
      }
  });
  return formatTextTable(
    ['hostile bodies of 512 KiB', 'connections', 'sent', 'another waits: p50 ms', 'p99 ms', 'most ms'],
    rows,
  );
}

const MEASURES: Readonly<Record<Part, (options: Options) => Promise<string>>> = {
  http: measureHttp,
  signing: measureParts,
  cache: measureCache,
  retrieval: measureSearches,
  hostile: measureWaits,
};

/** Prints the tables of the bench. */
export async function benchKernel(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  const [load = 0] = loadavg();
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${load.toFixed(1)}; node ${process.version}`,
  );
  console.log(`slices of at most ${options.maxNodes} turns, minPriority 0, anchors by seed ${options.seed}`);
  for (const part of options.parts) console.log(`\n${await MEASURES[part](options)}`);
}
