import fc from 'fast-check';
import { MultiDirectedGraph, MultiUndirectedGraph } from 'graphology';
import { createRandom } from '../../core/numbers/random.ts';
import type { SeedSet } from './seed-distribution.ts';
import { buildTransitionMatrix, type TransitionMatrix } from './transition-matrix.ts';

/** A graph written out for tests: an edge is [source, target, weight]. */
export interface HandmadeGraph {
  readonly directed: boolean;
  readonly nodes: readonly string[];
  readonly edges: readonly (readonly [string, string, number])[];
}

/**
 * Personalised PageRank by Gaussian elimination in float64, of (I - d Pᵀ - d s aᵀ) r = (1 - d) s, where a is 1 at the nodes that no weight leaves and s sums to 1.
 * Written from the formula, for comparison.
 *
 * @returns the score of every node.
 */
export function solveExactPageRank(
  graph: HandmadeGraph,
  seeds: ReadonlyMap<string, number>,
  d: number,
): Map<string, number> {
  const { nodes, edges, directed } = graph;
  const n = nodes.length;
  const weight = nodes.map(() => Array<number>(n).fill(0));
  for (const [source, target, w] of edges) {
    const [i, j] = [nodes.indexOf(source), nodes.indexOf(target)];
    weight[i]![j]! += w;
    if (!directed && i !== j) weight[j]![i]! += w;
  }
  const out = weight.map((row) => row.reduce((a, b) => a + b, 0));
  const total = [...seeds.values()].reduce((a, b) => a + b, 0);
  const s = nodes.map((id) => (seeds.get(id) ?? 0) / total);
  const system = nodes.map((_, j) =>
    nodes.map((_, i) => {
      const step = out[i] === 0 ? s[j]! : weight[i]![j]! / out[i]!;
      return (i === j ? 1 : 0) - d * step;
    }),
  );
  const right = s.map((share) => (1 - d) * share);
  const scores = eliminateByPivots(system, right);
  return new Map(nodes.map((id, i) => [id, scores[i]!]));
}

/** Solves a x = b with row pivots; both are overwritten. */
function eliminateByPivots(a: number[][], b: number[]): number[] {
  const n = b.length;
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(a[row]![column]!) > Math.abs(a[pivot]![column]!)) pivot = row;
    }
    [a[column], a[pivot]] = [a[pivot]!, a[column]!];
    [b[column], b[pivot]] = [b[pivot]!, b[column]!];
    for (let row = column + 1; row < n; row++) {
      const factor = a[row]![column]! / a[column]![column]!;
      for (let k = column; k < n; k++) a[row]![k]! -= factor * a[column]![k]!;
      b[row]! -= factor * b[column]!;
    }
  }
  for (let row = n - 1; row >= 0; row--) {
    for (let k = row + 1; k < n; k++) b[row]! -= a[row]![k]! * b[k]!;
    b[row]! /= a[row]![row]!;
  }
  return b;
}

/** Through graphology, as a caller would. */
export function buildHandmadeMatrix({ directed, nodes, edges }: HandmadeGraph): TransitionMatrix {
  const graph = directed ? new MultiDirectedGraph() : new MultiUndirectedGraph();
  for (const id of nodes) graph.addNode(id);
  for (const [source, target, weight] of edges) graph.addEdge(source, target, { weight });
  return buildTransitionMatrix(graph);
}

const NODES = 47;
const nameNode = (i: number) => `n${i}`;

/** Loops, parallel edges, weights of 0, dangling and isolated nodes among them. */
export const graphs: fc.Arbitrary<HandmadeGraph> = fc
  .record({
    directed: fc.boolean(),
    nodes: fc.integer({ min: 1, max: 23 }),
    edges: fc.array(
      fc.tuple(fc.nat(), fc.nat(), fc.oneof(fc.constant(0), fc.double({ min: 1e-3, max: 1e3, noNaN: true }))),
      { maxLength: 67 },
    ),
  })
  .map(({ directed, nodes, edges }) => ({
    directed,
    nodes: Array.from({ length: nodes }, (_, i) => nameNode(i)),
    edges: edges.map(
      ([source, target, weight]) => [nameNode(source % nodes), nameNode(target % nodes), weight] as const,
    ),
  }));

export const seedWeights = fc.array(fc.tuple(fc.nat(), fc.double({ min: 1e-3, max: 1e3, noNaN: true })), {
  minLength: 1,
  maxLength: 5,
});

/** Sparse enough for many dangling nodes and several components. */
export function drawSampleGraph(): HandmadeGraph {
  const stream = createRandom(11, 'handmade-pagerank');
  const nodes = Array.from({ length: NODES }, (_, i) => nameNode(i));
  const edges = Array.from({ length: 83 }, () => {
    return [nameNode(stream.integer(31)), nameNode(stream.integer(NODES)), 0.1 + stream.uniform()] as const;
  });
  return { directed: true, nodes, edges };
}

export function drawSeedQueries(count: number): SeedSet[] {
  return Array.from({ length: count }, (_, query) => {
    const stream = createRandom(query, 'handmade-pagerank.seeds');
    const size = 1 + stream.integer(5);
    return new Map(Array.from({ length: size }, () => [nameNode(stream.integer(NODES)), 0.1 + stream.uniform()]));
  });
}
