import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { DenseTensorPageRank } from '../../ops/pagerank/dense-tensor-pagerank.ts';
import { createPageRankSolver } from '../../ops/pagerank/pagerank-registry.ts';
import type { PageRankSolver } from '../../ops/pagerank/pagerank-solver.ts';
import { SparseTensorPageRank } from '../../ops/pagerank/sparse-tensor-pagerank.ts';
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

export const TENSOR_OPS: TensorOps = {
  DenseTensorPageRank: buildPageRankCase((matrix, maxIterations) => new DenseTensorPageRank(matrix, { maxIterations })),
  SparseTensorPageRank: buildPageRankCase(
    (matrix, maxIterations) => new SparseTensorPageRank(matrix, { maxIterations }),
  ),
  createPageRankSolver: buildPageRankCase((matrix, maxIterations) =>
    createPageRankSolver(matrix, { solver: 'sparse-tensor', damping: 0.5, tolerance: 1e-6, maxIterations }),
  ),
};
