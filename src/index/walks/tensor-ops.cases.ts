import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { GraphMoment } from '../graph/graph-moment.ts';
import { type MomentQuery, MomentScorer, normaliseVisibleSeeds } from '../graph/moment-scoring.ts';
import type { SolveQueries } from '../graph/moment-walks.ts';
import { TemporalAdjacency } from '../graph/temporal-adjacency.ts';
import { type GraphSolver, graph } from './graph-options.ts';
import { scoreTogether } from './moment-solvers.ts';
import { solveDense, solveSparse } from './moment-tensors.ts';

/** Nodes 0 - 1 - 2 in a row, whose second edge is later; 3 has no edge. */
const adjacency = new TemporalAdjacency({
  nodeTimes: Float64Array.of(0, 0, 1, 0),
  sources: Int32Array.of(0, 1),
  targets: Int32Array.of(1, 2),
  weights: Float64Array.of(1, 1),
  times: Float64Array.of(0, 1),
  isMention: new Uint8Array(2),
});
const [EARLY, LATE] = [1, 2].map((asOf) => new GraphMoment(adjacency, { asOf })) as [GraphMoment, GraphMoment];
const start = (moment: GraphMoment, node: number, weight = 1): MomentQuery => ({
  moment,
  seeds: new Map([[node, weight]]),
});
const QUERIES = [start(EARLY, 0), start(LATE, 0), start(LATE, 2)];
const OPTIONS = graph.options.parse({ index: 'graph' });

/** The scores of all nodes for each query, those of one moment alone in a batch of theirs. */
async function scoreBy(solver: GraphSolver, queries: readonly MomentQuery[]): Promise<number[]> {
  const scores: number[] = [];
  await scoreTogether(new MomentScorer(4), queries, { ...OPTIONS, solver }, (query, { values }) => {
    for (const [node, value] of values.entries()) scores[4 * query + node] = value;
  });
  return scores;
}

/** The sums of the scores of each query. */
async function solve(solver: SolveQueries, queries: readonly MomentQuery[]): Promise<number[]> {
  const sums: number[] = [];
  const started = queries.map(({ moment, seeds }, query) => {
    return { query, moment, shares: normaliseVisibleSeeds(moment, seeds) };
  });
  await solver(started, OPTIONS, ({ query }, nodes, ranks, first, stride) => {
    sums[query] = nodes.reduce((sum, _, position) => sum + ranks[first + position * stride]!, 0);
  });
  return sums;
}

const refusesSeed = [
  () => scoreBy('host', [start(LATE, 0, -1)]),
  /weight of a seed is negative or not finite: -1/,
] as const;

export const TENSOR_OPS: TensorOps = {
  scoreTogether: {
    use: async () => [await scoreBy('sparse-tensor', QUERIES), await scoreBy('dense-tensor', QUERIES)],
    refuses: [refusesSeed, [() => scoreBy('sparse-tensor', [start(LATE, 0, Number.NaN)]), /weight of a seed/]],
    edges: {
      'one turn': [() => scoreBy('sparse-tensor', [start(EARLY, 3)]), [0, 0, 0, 1]],
      'all masked': [() => scoreBy('dense-tensor', [start(EARLY, 2)]), [0, 0, 0, 0]],
      duplicates: [
        () => scoreBy('sparse-tensor', [start(EARLY, 0), start(EARLY, 0)]),
        [2, 1, 0, 0, 2, 1, 0, 0].map((part) => part / 3),
      ],
    },
  },
  solveSparse: {
    use: () => solve(solveSparse, QUERIES),
    refuses: [[() => solve(solveSparse, [start(LATE, 0, -1)]), /weight of a seed/]],
    edges: { 'one turn': [() => solve(solveSparse, [start(EARLY, 3)]), [1]] },
  },
  solveDense: {
    use: () => solve(solveDense, QUERIES),
    refuses: [[() => solve(solveDense, [start(LATE, 0, -1)]), /weight of a seed/]],
    edges: { 'one turn': [() => solve(solveDense, [start(EARLY, 3)]), [1]] },
  },
};
