import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { HostPageRank } from '../src/ops/pagerank/host-pagerank.ts';
import type { PageRankSolver } from '../src/ops/pagerank/pagerank-solver.ts';
import { PushPageRank } from '../src/ops/pagerank/push-pagerank.ts';
import type { SeedSet } from '../src/ops/pagerank/seed-distribution.ts';
import { SparseTensorPageRank } from '../src/ops/pagerank/sparse-tensor-pagerank.ts';
import { buildTransitionsFromEdges, type TransitionMatrix } from '../src/ops/pagerank/transition-matrix.ts';
import { parsePositiveOption } from './integer-option.ts';
import { measureScoreError, type ScoreError } from './pagerank-error.ts';
import { type BenchGraph, benchGraph, benchQueries, GRAPHS, type GraphKind } from './pagerank-graph.ts';
import { runScipy } from './pagerank-peer.ts';
import { type FoundPython, findPython } from './peers/python.ts';
import { formatTextTable } from './text-table.ts';

export const PAGERANK_USAGE = `pagerank [options]   time of personalised PageRank a query, with its error, beside scipy where python3 imports it (apt-get install -y python3-scipy)
    --nodes V      (default 5400)
    --edges E      (default 50000)
    --batch B      queries solved at once (default 32)
    --graph G      ${GRAPHS.join(', ')} (default clustered)
    --damping D    (default 0.5)
    --rounds R     scipy and ours in turn, the fastest of three times R counts, so that other work on the machine does not (default 3)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

interface Settings {
  readonly nodes: number;
  readonly edges: number;
  readonly batch: number;
  readonly graph: GraphKind;
  readonly damping: number;
  readonly rounds: number;
  readonly seed: number;
}

export interface Row {
  readonly name: string;
  readonly tolerance: number;
  readonly milliseconds: number;
  /** Mean of the queries. */
  readonly iterations: number;
  readonly error: ScoreError;
}

/** The tolerances that float64 reaches, and those that float32 reaches. */
const [FINE, COARSE] = [1e-10, 1e-6];
/** Enough to order the best nodes, for which forward push is made. */
const ROUGH = 1e-3;
const TOLERANCES = [FINE, COARSE, ROUGH];
const REPEATS = 3;
const MAX_ITERATIONS = 1000;

/** Prints the table of the bench. */
export async function benchPageRank(args: readonly string[]): Promise<void> {
  const { settings, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const { nodes, edges, batch, graph: kind, damping, seed, rounds } = settings;
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}; backend ${backend}`,
  );
  console.log(`graph: ${kind}, ${nodes} nodes, ${edges} edges, seed ${seed}; damping ${damping}; one thread`);
  console.log(
    `queries: a batch of ${batch}; processor time, the fastest of ${rounds} x ${REPEATS}; errors against float64 at 1e-14`,
  );
  const graph = benchGraph(kind, nodes, edges, seed);
  const queries = benchQueries(graph, batch, seed);
  const matrix = buildTransitionsFromEdges(graph.nodeIds, graph.edges);
  const exact = await new HostPageRank(matrix, { damping, tolerance: 1e-14, maxIterations: MAX_ITERATIONS }).solve(
    queries,
  );
  const python = findPython(['scipy', 'numpy']);
  let [peers, own]: Row[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    if ('versions' in python)
      peers = pickFastestRows(peers!, measureScipyRows(python, graph, queries, exact.scores, settings));
    own = pickFastestRows(own!, await measureOwnRows(matrix, queries, exact.scores, settings));
  }
  console.log(`\n${formatPageRankTable([...peers!, ...own!], peers!)}`);
  console.log('versions' in python ? `\npeer: ${python.versions}` : `\nno peer: ${python.missing}`);
}

function measureScipyRows(
  python: FoundPython,
  graph: BenchGraph,
  queries: readonly SeedSet[],
  exact: Float64Array,
  settings: Settings,
): Row[] {
  const { damping, nodes } = settings;
  const peer = { damping, repeats: REPEATS, tolerances: TOLERANCES, maxIterations: MAX_ITERATIONS };
  return runScipy(python, graph, queries, peer).flatMap((result, i) => {
    const shared = {
      tolerance: TOLERANCES[i]!,
      iterations: result.iterations,
      error: measureScoreError(result.scores, exact, nodes),
    };
    return [
      { ...shared, name: 'scipy, one by one', milliseconds: result.singleMilliseconds },
      { ...shared, name: 'scipy, as a block', milliseconds: result.blockMilliseconds },
    ];
  });
}

async function measureOwnRows(
  matrix: TransitionMatrix,
  queries: readonly SeedSet[],
  exact: Float64Array,
  settings: Settings,
): Promise<Row[]> {
  const { damping } = settings;
  const buildSolverOptions = (tolerance: number) => ({ damping, tolerance, maxIterations: MAX_ITERATIONS });
  const measure = async (name: string, tolerance: number, solver: PageRankSolver): Promise<Row> => {
    try {
      return { name, tolerance, ...(await timeSolver(solver, queries, exact, settings)) };
    } finally {
      solver.dispose();
    }
  };
  return [
    await measure('host', FINE, new HostPageRank(matrix, buildSolverOptions(FINE))),
    await measure('host', COARSE, new HostPageRank(matrix, buildSolverOptions(COARSE))),
    await measure('host', ROUGH, new HostPageRank(matrix, buildSolverOptions(ROUGH))),
    await measure('sparse tensor', COARSE, new SparseTensorPageRank(matrix, buildSolverOptions(COARSE))),
    await measure('push', FINE, new PushPageRank(matrix, buildSolverOptions(FINE))),
    await measure('push', COARSE, new PushPageRank(matrix, buildSolverOptions(COARSE))),
    await measure('push', ROUGH, new PushPageRank(matrix, buildSolverOptions(ROUGH))),
  ];
}

async function timeSolver(
  solver: PageRankSolver,
  queries: readonly SeedSet[],
  exact: Float64Array,
  { nodes }: Settings,
): Promise<Pick<Row, 'milliseconds' | 'iterations' | 'error'>> {
  const { scores, iterations } = await solver.solve(queries);
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const start = process.cpuUsage();
    await solver.solve(queries);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return {
    milliseconds: Math.min(...times) / queries.length,
    iterations: iterations.reduce((a, b) => a + b) / queries.length,
    error: measureScoreError(scores, exact, nodes),
  };
}

function parseOptions(args: readonly string[]): { settings: Settings; backend: BackendChoice } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '5400' },
      edges: { type: 'string', default: '50000' },
      batch: { type: 'string', default: '32' },
      graph: { type: 'string', default: 'clustered' },
      damping: { type: 'string', default: '0.5' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  const graph = GRAPHS.find((kind) => kind === values.graph);
  if (graph === undefined)
    throw new ValidationError(`unknown --graph: ${values.graph}; use one of ${GRAPHS.join(', ')}`);
  const damping = Number(values.damping);
  if (!(damping > 0 && damping < 1))
    throw new ValidationError(`--damping is not between 0 and 1: ${values.damping}; give a number such as 0.5`);
  return {
    settings: {
      nodes: parsePositiveOption('nodes', values.nodes),
      edges: parsePositiveOption('edges', values.edges),
      batch: parsePositiveOption('batch', values.batch),
      graph,
      damping,
      rounds: parsePositiveOption('rounds', values.rounds),
      seed: parsePositiveOption('seed', values.seed),
    },
    backend: values.backend as BackendChoice,
  };
}

/** Row by row, with the lesser time. */
function pickFastestRows(before: readonly Row[], now: readonly Row[]): Row[] {
  return now.map((row, i) => {
    return { ...row, milliseconds: Math.min(row.milliseconds, before[i]?.milliseconds ?? Number.POSITIVE_INFINITY) };
  });
}

/** Times, and how many times as long as the faster way of the peer at the same tolerance they are; a dash without such a peer. */
export function formatPageRankTable(rows: readonly Row[], peers: readonly Row[]): string {
  const header = [
    'solver',
    'tolerance',
    'ms/query',
    'vs scipy',
    'iterations',
    'max error',
    'L1 error',
    'top-10 overlap',
  ];
  const lines = rows.map(({ name, tolerance, milliseconds, iterations, error }) => {
    const best = Math.min(...peers.filter((peer) => peer.tolerance === tolerance).map((peer) => peer.milliseconds));
    return [
      name,
      tolerance.toExponential(0),
      milliseconds.toFixed(3),
      Number.isFinite(best) ? `${(milliseconds / best).toFixed(2)}x` : '-',
      iterations.toFixed(1),
      error.largest.toExponential(1),
      error.distance.toExponential(1),
      error.overlap.toFixed(4),
    ];
  });
  return formatTextTable(header, lines);
}
