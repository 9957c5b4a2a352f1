import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS, type BackendChoice } from '../src/core/tensors/backend.ts';
import { graph as graphDefinition } from '../src/index/walks/graph-options.ts';
import { runInChild } from './child.ts';
import type { GraphFigures, GraphTask } from './graph-child.ts';
import { formatGraphTables, formatWalks } from './graph-tables.ts';
import { comparePeers, type WalkRow } from './graph-walks.ts';
import { parsePositiveOption } from './integer-option.ts';
import { parseNames } from './name-option.ts';
import type { FoundPython } from './peers/python.ts';
import { installPython } from './peers/venv.ts';

/** Kinds of edges that an arm without options leaves out, and that texts alone decide. */
const OPTIONAL_KINDS = ['cooccurrence', 'alias'] as const;

/** Most memories that a peer is given: above, its graph or one query takes minutes. */
const PEER_LIMITS: Readonly<Record<string, number>> = { scipy: 1_000_000, igraph: 1_000_000, networkx: 100_000 };

export const GRAPH_USAGE = `graph [options]        the concept graph: building, insertion, queries beside bm25, PageRank beside scipy, igraph and networkx
    --sizes N,M    made-up memories (default 5000,50000,500000; the largest takes some 10 minutes and 4 GB)
    --queries Q    of each size (default 200)
    --also KINDS   of edges besides those of an arm without options: ${OPTIONAL_KINDS.join(',')}
    --seed S       (default 7)
    --peers LIST   some of ${Object.keys(PEER_LIMITS).join(',')}, or none (default all)
    --seconds T    that each program asks queries, the first one always (default 30)
    --backend B    of the solvers with tensors: auto, ${BACKENDS.join(', ')} (default auto)`;

interface Options {
  readonly sizes: readonly number[];
  readonly queries: number;
  readonly also: readonly (typeof OPTIONAL_KINDS)[number][];
  readonly seed: number;
  readonly peers: readonly string[];
  readonly seconds: number;
  readonly backend: BackendChoice;
}

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: '5000,50000,500000' },
      queries: { type: 'string', default: '200' },
      also: { type: 'string' },
      seed: { type: 'string', default: '7' },
      peers: { type: 'string', default: Object.keys(PEER_LIMITS).join(',') },
      seconds: { type: 'string', default: '30' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  const queries = parsePositiveOption('queries', values.queries);
  const sizes = values.sizes.split(',').map((size) => parsePositiveOption('sizes', size));
  const small = sizes.find((size) => size < 10 * queries);
  if (small !== undefined)
    throw new ValidationError(
      `--sizes has fewer than ten memories a query: ${small}; give at least ${10 * queries}, or fewer --queries`,
    );
  return {
    sizes,
    queries,
    also: values.also === undefined ? [] : parseNames('also', values.also, OPTIONAL_KINDS),
    seed: parsePositiveOption('seed', values.seed),
    peers: values.peers === 'none' ? [] : parseNames('peers', values.peers, Object.keys(PEER_LIMITS)),
    seconds: parsePositiveOption('seconds', values.seconds),
    backend: values.backend as BackendChoice,
  };
}

/** Prints which peers are left out at a size. @returns the others. */
function selectPeers({ peers }: Options, size: number): string[] {
  const isTooLarge = (name: string) => size > (PEER_LIMITS[name] as number);
  for (const name of peers.filter(isTooLarge))
    console.log(`no ${name} at ${size} memories: above ${PEER_LIMITS[name]} its graph or one query takes minutes`);
  return peers.filter((name) => !isTooLarge(name));
}

async function measure(
  options: Options,
  size: number,
  python: FoundPython | null,
): Promise<{ figures: GraphFigures; rows: readonly WalkRow[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-graph-'));
  try {
    const { queries, seed, also, seconds, backend } = options;
    const task: GraphTask = { size, queries, seed, also, folder, seconds, backend };
    const figures = await runInChild<GraphFigures>('./graph-child.ts', task, {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --max-old-space-size=16000`,
    });
    if (python === null) return { figures, rows: [] };
    const { damping } = graphDefinition.options.parse({ index: 'graph' });
    const peers = selectPeers(options, size);
    return { figures, rows: comparePeers(python, folder, figures.walks, peers, { damping, seconds }) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Prints the tables of the bench. */
export async function benchGraph(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  const { sizes, queries, seed, also, peers } = options;
  const [load] = loadavg().map((value) => value.toFixed(1));
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${load}; node ${process.version}`,
  );
  console.log(`data: made-up threads with names and titles, ${queries} queries, seed ${seed}; times of the processor`);
  if (also.length > 0) console.log(`edges besides those of an arm without options: ${also.join(', ')}`);
  const found = peers.length === 0 ? null : installPython('graph-requirements.txt');
  if (found !== null) console.log(`peers: ${'missing' in found ? found.missing : `${found.versions}, one thread`}`);
  const all: GraphFigures[] = [];
  const walks: { size: number; rows: readonly WalkRow[] }[] = [];
  for (const size of sizes) {
    const { figures, rows } = await measure(options, size, found !== null && 'command' in found ? found : null);
    all.push(figures);
    walks.push({ size, rows });
  }
  console.log(`\n${formatGraphTables(all)}`);
  if (walks.some(({ rows }) => rows.length > 0)) console.log(`\n${formatWalks(walks)}`);
}
