import type { GraphMoment } from '../graph/graph-moment.ts';
import type { NodeScores, NodeSeeds } from '../graph/moment-scoring.ts';
import type { WalkableGraph } from '../graph/walkable-graph.ts';

/** What given turns are on the graph of a query's moment, [Q, C] each; 0 for a turn that the graph does not reach, and for padding. */
export interface GraphPairs {
  /** Personalised PageRank from the seeds of the query. */
  readonly pagerank: Float32Array;
  /** 1 / (1 + edges on the shortest path to a seed turn), for at most {@link MOST_HOPS} edges. */
  readonly distance: Float32Array;
  /** ln(1 + weight of the edges). */
  readonly degree: Float32Array;
  /** The sum of the specificities of the concepts that turn and query share. */
  readonly sharedConcepts: Float32Array;
}

/** The longest path that a distance is looked for on. */
export const MOST_HOPS = 4;

export function allocateGraphPairs(count: number): GraphPairs {
  const allocate = () => new Float32Array(count);
  return { pagerank: allocate(), distance: allocate(), degree: allocate(), sharedConcepts: allocate() };
}

/** A query on a graph: where its walks start. */
export interface QueryOnGraph {
  readonly seeds: NodeSeeds;
  readonly seedTurns: readonly number[];
  /** Nodes of the concepts of its text. */
  readonly concepts: readonly number[];
}

/** The edges on the shortest path from any start to each node within {@link MOST_HOPS}. */
function countHops(moment: GraphMoment, starts: readonly number[]): ReadonlyMap<number, number> {
  const hops = new Map(starts.map((node) => [node, 0]));
  let last: readonly number[] = starts;
  for (let hop = 1; hop <= MOST_HOPS && last.length > 0; hop++) {
    const next: number[] = [];
    for (const node of last)
      moment.forEachNeighbour(node, (neighbour) => {
        if (hops.has(neighbour)) return;
        hops.set(neighbour, hop);
        next.push(neighbour);
      });
    last = next;
  }
  return hops;
}

/** The specificities of the given concepts, summed by the memory that mentions them. */
function sumShared(
  { memoryOf }: WalkableGraph,
  moment: GraphMoment,
  concepts: readonly number[],
): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const concept of concepts) {
    const specificity = moment.computeSpecificity(concept);
    moment.forEachNeighbour(concept, (node) => {
      if (memoryOf[node]! >= 0) sums.set(node, (sums.get(node) ?? 0) + specificity);
    });
  }
  return sums;
}

/**
 * Writes what the turns of one query are on the graph.
 *
 * @param scores of PageRank.
 * @param positions of the turns, -1 for padding.
 * @param first place in `pairs` of the first of them.
 */
export function fillGraphPairs(
  walkable: WalkableGraph,
  moment: GraphMoment,
  query: QueryOnGraph,
  { values }: NodeScores,
  positions: Int32Array,
  pairs: GraphPairs,
  first: number,
): void {
  const hops = countHops(moment, query.seedTurns);
  const shared = sumShared(walkable, moment, query.concepts);
  for (const [i, position] of positions.entries()) {
    if (position < 0) continue;
    const node = walkable.memoryNodes[position]!;
    if (!moment.has(node)) continue;
    const distance = hops.get(node);
    pairs.pagerank[first + i] = values[node]!;
    pairs.distance[first + i] = distance === undefined ? 0 : 1 / (1 + distance);
    pairs.degree[first + i] = Math.log1p(moment.sumWeights(node));
    pairs.sharedConcepts[first + i] = shared.get(node) ?? 0;
  }
}
