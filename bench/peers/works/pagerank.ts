import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PushPageRank } from '../../../src/ops/pagerank/push-pagerank.ts';
import { buildTransitionsFromEdges } from '../../../src/ops/pagerank/transition-matrix.ts';
import { benchGraph, benchQueries } from '../../pagerank-graph.ts';
import { type Comparison, type PeerSize, type Result, readSettings, type WorkGroup, writeSettings } from '../work.ts';

interface Case {
  readonly work: string;
  readonly nodes: number;
  readonly edges: number;
  /** L1 error of the scores of a query. */
  readonly tolerance: number;
}

const createCase = (nodes: number, edges: number, tolerance: number): Case => {
  return { work: `pagerank/${nodes}@${tolerance.toExponential()}`, nodes, edges, tolerance };
};

const SMALL = [createCase(5400, 50_000, 1e-6), createCase(5400, 50_000, 1e-10)];
const CASES: Readonly<Record<PeerSize, readonly Case[]>> = {
  small: SMALL,
  published: [...SMALL, createCase(100_000, 1_000_000, 1e-6)],
};
const [BATCH, DAMPING, MAX_ITERATIONS] = [32, 0.5, 1000];

function writeGraphs(folder: string, size: PeerSize, seed: number): void {
  for (const { nodes, edges } of CASES[size]) {
    const graph = benchGraph('clustered', nodes, edges, seed);
    const seeds = benchQueries(graph, BATCH, seed).flatMap((set, query) =>
      Array.from(set, ([id, weight]) => ({ query, node: Number(id.slice(1)), weight })),
    );
    const files: Record<string, Int32Array | Float64Array> = {
      ...graph.edges,
      seedQueries: Int32Array.from(seeds, ({ query }) => query),
      seedNodes: Int32Array.from(seeds, ({ node }) => node),
      seedWeights: Float64Array.from(seeds, ({ weight }) => weight),
    };
    for (const [name, values] of Object.entries(files)) writeFileSync(join(folder, `${nodes}-${name}`), values);
  }
  const settings = { cases: CASES[size], batch: BATCH, damping: DAMPING, maxIterations: MAX_ITERATIONS };
  writeSettings(folder, { ...readSettings<object>(folder), ...settings });
}

/** Compares queries: the scores of both sides lie within the tolerance of the exact ones, by L1. */
function compareScores(ours: Result, theirs: Result, { nodes, tolerance }: Case): Comparison {
  const compared = Math.max(ours.length, theirs.length);
  let [differ, largest] = [0, 0];
  for (let start = 0; start < compared; start += nodes) {
    let distance = 0;
    for (let i = start; i < start + nodes; i++) distance += Math.abs(ours[i]! - theirs[i]!);
    if (!(distance <= 2 * tolerance)) differ += nodes;
    largest = Math.max(largest, distance);
  }
  return { compared, differ, note: `L1 within ${largest.toExponential(1)}` };
}

const findCase = (size: PeerSize, work: string) => CASES[size].find((one) => one.work === work)!;

/** Personalised PageRank of a batch of queries by the default solver. */
export const pagerank: WorkGroup = {
  listWorks: (size) => CASES[size].map(({ work }) => work),
  peers: [
    { name: 'scipy', requirements: 'graph-requirements.txt' },
    { name: 'igraph', requirements: 'graph-requirements.txt' },
  ],
  describe: (size) =>
    `graphs of ${[...new Set(CASES[size].map(({ nodes, edges }) => `${nodes.toLocaleString('en')} nodes and ${edges.toLocaleString('en')} edges`))].join(', ')}, ${BATCH} queries, damping ${DAMPING}, push; igraph knows no tolerance`,
  prepare: writeGraphs,
  open: async (folder) => {
    const { size, seed } = readSettings<{ readonly size: PeerSize; readonly seed: number }>(folder);
    const works = CASES[size].map(({ work, nodes, edges, tolerance }) => {
      const graph = benchGraph('clustered', nodes, edges, seed);
      const matrix = buildTransitionsFromEdges(graph.nodeIds, graph.edges);
      const solver = new PushPageRank(matrix, { damping: DAMPING, tolerance, maxIterations: MAX_ITERATIONS });
      const queries = benchQueries(graph, BATCH, seed);
      const solve = async () => {
        const { scores } = await solver.solve(queries);
        return () => scores;
      };
      return [work, solve] as const;
    });
    return Object.fromEntries(works);
  },
  compare: (work, ours, theirs, folder) =>
    compareScores(ours, theirs, findCase(readSettings<{ readonly size: PeerSize }>(folder).size, work)),
};
