import { transpose } from '../../core/linear/sparse-matrix.ts';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { DENSE_NODES, DenseTensorPageRank, uploadMatrix } from '../../ops/pagerank/dense-tensor-pagerank.ts';
import { createPageRankSolver } from '../../ops/pagerank/pagerank-registry.ts';
import type { PageRankSolver } from '../../ops/pagerank/pagerank-solver.ts';
import { buildSeedDistributions } from '../../ops/pagerank/seed-distribution.ts';
import { SparseTensorPageRank, uploadEdges } from '../../ops/pagerank/sparse-tensor-pagerank.ts';
import type { DeviceTransitions } from '../../ops/pagerank/tensor-pagerank.ts';
import { walkFromSeeds } from '../../ops/pagerank/tensor-walk.ts';
import { buildTransitionsFromEdges, type TransitionMatrix } from '../../ops/pagerank/transition-matrix.ts';

/** a to b and c, b to a and c; c is dangling. */
const graph = buildTransitionsFromEdges(['a', 'b', 'c'], {
  sources: Int32Array.of(0, 0, 1, 1),
  targets: Int32Array.of(1, 2, 0, 2),
  weights: Float64Array.of(1, 2, 1, 1),
});
const lonely = buildTransitionsFromEdges(['a'], {
  sources: new Int32Array(0),
  targets: new Int32Array(0),
  weights: new Float64Array(0),
});

async function solveForScores(
  made: PageRankSolver | Promise<PageRankSolver>,
  seeds: readonly string[],
): Promise<Float64Array> {
  const solver = await made;
  try {
    return (await solver.solve(seeds.map((seed) => new Map([[seed, 1]])))).scores;
  } finally {
    solver.dispose();
  }
}

function buildPageRankCase(
  make: (matrix: TransitionMatrix, maxIterations: number) => PageRankSolver | Promise<PageRankSolver>,
) {
  return {
    use: () => solveForScores(make(graph, 100), ['a', 'b']),
    refuses: [
      [() => solveForScores(make(graph, 100), ['d']), /d/],
      [() => solveForScores(make(graph, 1), ['a']), /did not converge/],
    ],
    edges: { 'one turn': [() => solveForScores(make(lonely, 100), ['a']), [1]] },
  } as const;
}

const EDGES = { sources: Int32Array.of(1, 0, 0, 1), targets: Int32Array.of(0, 1, 2, 2) };
const uploadPath = (columns: number) =>
  uploadEdges({ ...EDGES, nodes: 3, probabilities: new Float32Array(4 * columns).fill(0.25) });

/** Scores from the seed of each of the first nodes, at damping .5. */
async function walkOn(
  upload: () => DeviceTransitions,
  matrix: TransitionMatrix,
  seeds: readonly string[],
  nodes = matrix.nodeIds.length,
): Promise<Float32Array> {
  const transitions = upload();
  try {
    const placed = buildSeedDistributions(
      matrix,
      seeds.map((seed) => new Map([[seed, 1]])),
    );
    const dangling = Float32Array.from({ length: nodes }, (_, node) => (matrix.dangling.includes(node) ? 1 : 0));
    return await walkFromSeeds(transitions, placed, { nodes, dangling }, { damping: 0.5, tolerance: 1e-6 });
  } finally {
    transitions.dispose();
  }
}
const uploadDamped = ({ probabilities }: TransitionMatrix) => {
  const incoming = transpose(probabilities);
  return uploadMatrix({ ...incoming, values: incoming.values.map((value) => value / 2) });
};
const empty = { sources: new Int32Array(0), targets: new Int32Array(0), probabilities: new Float32Array(0) };

export const TENSOR_OPS: TensorOps = {
  walkFromSeeds: {
    use: () => walkOn(() => uploadDamped(graph), graph, ['a', 'b']),
    refuses: [[() => walkOn(() => uploadDamped(graph), graph, ['a'], 2), /position|expected|[Ss]hape/]],
    edges: { 'one turn': [() => walkOn(() => uploadDamped(lonely), lonely, ['a']), [1]] },
  },
  uploadMatrix: {
    use: () => walkOn(() => uploadDamped(graph), graph, ['a', 'c']),
    refuses: [
      [
        () => uploadMatrix({ ...graph.probabilities, rows: DENSE_NODES + 1 }),
        /8193 nodes are more than 8192, the limit of dense-tensor PageRank/,
      ],
    ],
    edges: { 'one turn': [() => walkOn(() => uploadDamped(lonely), lonely, ['a']), [1]] },
  },
  uploadEdges: {
    use: () => walkOn(() => uploadPath(2), graph, ['a', 'b']),
    refuses: [[() => walkOn(() => uploadPath(2), graph, ['a', 'b', 'c']), /expected|broadcast|compatible|shape/]],
    edges: { 'one turn': [() => walkOn(() => uploadEdges({ nodes: 1, ...empty }), lonely, ['a']), [1]] },
  },
  DenseTensorPageRank: buildPageRankCase((matrix, maxIterations) => new DenseTensorPageRank(matrix, { maxIterations })),
  SparseTensorPageRank: buildPageRankCase(
    (matrix, maxIterations) => new SparseTensorPageRank(matrix, { maxIterations }),
  ),
  createPageRankSolver: buildPageRankCase((matrix, maxIterations) =>
    createPageRankSolver(matrix, { solver: 'sparse-tensor', damping: 0.5, tolerance: 1e-6, maxIterations }),
  ),
};
