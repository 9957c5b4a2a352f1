import { createRandom } from '../src/core/numbers/random.ts';
import type { SeedSet } from '../src/ops/pagerank/seed-distribution.ts';
import type { WeightedEdges } from '../src/ops/pagerank/transition-matrix.ts';

export const GRAPHS = ['clustered', 'uniform'] as const;
export type GraphKind = (typeof GRAPHS)[number];

/** Nodes of a cluster. */
const CLUSTER = 50;
/** The share of a clustered graph's edges that stay within their cluster. */
const INSIDE = 0.8;
/** Seeds of a query. */
const SEEDS = 10;

export interface BenchGraph {
  /** [V], ascending. */
  readonly nodeIds: readonly string[];
  /** [E] */
  readonly edges: WeightedEdges;
}

/**
 * A directed graph with weights in [0.1, 1.1). `clustered`: most edges stay among 50 nodes whose ids are neighbours, as those of a conversation's turns are; the others
 * lead to hubs, which are anywhere. `uniform`: both ends are drawn at random, so that every walk is everywhere after a few steps, the worst case for forward push.
 */
export function benchGraph(kind: GraphKind, nodes: number, edges: number, seed: number): BenchGraph {
  const stream = createRandom(seed, `pagerank ${kind}`);
  const hubs = stream.shuffle(Array.from({ length: nodes }, (_, i) => i));
  const sources = new Int32Array(edges);
  const targets = new Int32Array(edges);
  const weights = new Float64Array(edges);
  for (let edge = 0; edge < edges; edge++) {
    const source = stream.integer(nodes);
    const target =
      kind === 'uniform'
        ? stream.integer(nodes)
        : stream.uniform() < INSIDE
          ? Math.min(nodes - 1, source - (source % CLUSTER) + stream.integer(CLUSTER))
          : hubs[Math.floor(nodes * stream.uniform() ** 3)]!;
    sources[edge] = source;
    targets[edge] = target;
    weights[edge] = 0.1 + stream.uniform();
  }
  const digits = String(nodes).length;
  const nodeIds = Array.from({ length: nodes }, (_, i) => `n${String(i).padStart(digits, '0')}`);
  return { nodeIds, edges: { sources, targets, weights } };
}

export function benchQueries({ nodeIds }: BenchGraph, count: number, seed: number): SeedSet[] {
  const stream = createRandom(seed, 'pagerank queries');
  return Array.from({ length: count }, () => {
    return new Map(
      Array.from({ length: SEEDS }, () => [nodeIds[stream.integer(nodeIds.length)]!, 0.1 + stream.uniform()]),
    );
  });
}
