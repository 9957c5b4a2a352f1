import { DirectedGraph, UndirectedGraph } from 'graphology';
import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { DenseTensorPageRank } from '../../ops/pagerank/dense-tensor-pagerank.ts';
import { HostPageRank } from '../../ops/pagerank/host-pagerank.ts';
import type { PageRankSolver } from '../../ops/pagerank/pagerank-solver.ts';
import { PushPageRank } from '../../ops/pagerank/push-pagerank.ts';
import { SparseTensorPageRank } from '../../ops/pagerank/sparse-tensor-pagerank.ts';
import { buildTransitionMatrix, type TransitionMatrix } from '../../ops/pagerank/transition-matrix.ts';
import { type GoldenCase, HOST, type Part, TENSOR, type Topic } from './topic.ts';

const pprCase = z.looseObject({
  nodes: z.int(),
  directed: z.boolean(),
  /** Source, target, weight. */
  edges: z.array(z.tuple([z.int(), z.int(), z.number()])),
  seeds: z.record(z.string(), z.number()),
  damping: z.number(),
  dangling: z.array(z.int()),
  expected: z.strictObject({ scores: z.array(z.number()) }),
});
type PprCase = z.output<typeof pprCase>;

/** The tolerance of forward push: the largest allowed error of its scores. */
const PUSH_TOLERANCE = 1e-7;

function buildGoldenMatrix({ nodes, directed, edges }: PprCase): TransitionMatrix {
  const graph = directed ? new DirectedGraph() : new UndirectedGraph();
  for (let node = 0; node < nodes; node++) graph.addNode(String(node));
  for (const [source, target, weight] of edges) graph.addEdge(String(source), String(target), { weight });
  return buildTransitionMatrix(graph);
}

/** The scores in the order of the case's nodes, and their error bound. */
async function solve(matrix: TransitionMatrix, golden: PprCase, solver: PageRankSolver) {
  try {
    const { scores, errorBounds } = await solver.solve([new Map(Object.entries(golden.seeds))]);
    const inOrder = Array.from({ length: golden.nodes }, (_, node) => scores[matrix.positionOf.get(String(node))!]!);
    return { scores: inOrder, errorBound: errorBounds[0]! };
  } finally {
    solver.dispose();
  }
}

export const ppr: Topic = {
  name: 'ppr',
  async compute(input: GoldenCase): Promise<readonly Part[]> {
    const golden = parse(pprCase, input, input.name);
    const matrix = buildGoldenMatrix(golden);
    const { damping } = golden;
    const { scores: expected } = golden.expected;
    // At a damping of 0.85 an iteration may take away as little as 15 % of the change.
    const settings = { damping, maxIterations: 200 };
    const host = await solve(matrix, golden, new HostPageRank(matrix, settings));
    const sparse = await solve(matrix, golden, new SparseTensorPageRank(matrix, settings));
    const dense = await solve(matrix, golden, new DenseTensorPageRank(matrix, settings));
    const push = await solve(matrix, golden, new PushPageRank(matrix, { ...settings, tolerance: PUSH_TOLERANCE }));
    const dangling = Array.from(matrix.dangling, (position) => Number(matrix.nodeIds[position])).sort((a, b) => a - b);
    return [
      { at: 'dangling', expected: golden.dangling, got: dangling, tolerance: HOST },
      { at: 'host scores', expected, got: host.scores, tolerance: HOST },
      { at: 'sparse tensor scores', expected, got: sparse.scores, tolerance: TENSOR },
      { at: 'dense tensor scores', expected, got: dense.scores, tolerance: TENSOR },
      { at: 'push bound', expected: true, got: push.errorBound <= PUSH_TOLERANCE, tolerance: HOST },
      { at: 'push scores', expected, got: push.scores, tolerance: { absolute: PUSH_TOLERANCE, relative: 0 } },
    ];
  },
};
