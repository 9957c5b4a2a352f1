import type { SparseMatrix } from '../../core/linear/sparse-matrix.ts';
import type { WalkOptions } from '../../ops/pagerank/pagerank-solver.ts';
import type { SeedDistribution } from '../../ops/pagerank/seed-distribution.ts';
import type { GraphMoment } from './graph-moment.ts';
import type { Share } from './moment-scoring.ts';

/** A query with a visible seed. */
export interface StartedQuery {
  /** Its place in the batch. */
  readonly query: number;
  readonly moment: GraphMoment;
  /** The visible seeds. */
  readonly shares: readonly Share[];
}

/** Takes in the scores of a query: those of `nodes` begin at `first` and are `stride` apart. */
export type KeepRanks = (
  started: StartedQuery,
  nodes: Int32Array,
  ranks: Float32Array | Float64Array,
  first: number,
  stride: number,
) => void;

/** Solves PageRank for queries on graphs of one adjacency, those of one moment one after the other. */
export type SolveQueries = (queries: readonly StartedQuery[], options: WalkOptions, keep: KeepRanks) => Promise<void>;

/** The queries of each moment. */
export function groupByMoment(queries: readonly StartedQuery[]): Map<GraphMoment, StartedQuery[]> {
  const groups = new Map<GraphMoment, StartedQuery[]>();
  for (const query of queries) {
    const group = groups.get(query.moment);
    if (group === undefined) groups.set(query.moment, [query]);
    else group.push(query);
  }
  return groups;
}

/** The walks on the graph of one or more moments, over the nodes that an edge or a seed touches. */
export interface MomentWalks {
  /** [V] the node of each position, ascending. */
  readonly nodes: Int32Array;
  /** [V + 1] where the edges begin that enter each position. */
  readonly offsets: Int32Array;
  /** [E] the position that each edge leaves; those that enter one position in the order of the nodes. */
  readonly sources: Int32Array;
  /** Row-major [E, M]: damping times the probability of each edge at each moment, 0 where the edge is not visible. */
  readonly probabilities: Float64Array;
  /** M. */
  readonly moments: number;
  /** [Q] the seeds of each query, by position. */
  readonly seeds: readonly SeedDistribution[];
}

/** [nodes] the edges of each node that exist at any of the moments, hidden ones among them. */
export function countRoom(moments: readonly GraphMoment[]): Int32Array {
  const latest = moments.reduce((last, moment) => (moment.asOf > last.asOf ? moment : last));
  return Int32Array.from({ length: latest.adjacency.size }, (_, node) => latest.countEdges(node));
}

/** Edges between nodes in the order of their entries, with room for hidden ones, whose target is -1. */
interface EntryEdges {
  /** [room] the node that each edge leaves. */
  readonly sources: Int32Array;
  /** [room] the node that each edge enters. */
  readonly targets: Int32Array;
  /** Row-major [room, M]. */
  readonly probabilities: Float64Array;
}

/**
 * Gathers the graphs of M moments of one adjacency, as {@link GraphMoment} shows them, into one list of edges with
 * probabilities for each moment. Every entry is visited once for each moment: O(M (nodes + entries)) operations, about
 * what one step of a walk costs, and E M numbers. The order of the edges of a node is that of a single moment, so that
 * sums over them do not depend on the other moments, to the bit.
 *
 * @param moments of one adjacency.
 * @param starts [Q] visible seeds of each query.
 */
export function gatherMomentWalks(
  moments: readonly GraphMoment[],
  starts: readonly (readonly Share[])[],
  damping: number,
): MomentWalks {
  const edges = listEntryEdges(moments, damping);
  const { nodes, positionOf } = placeNodes(edges, starts, moments[0]!.adjacency.size);
  const seeds = starts.map((shares) => locateSeeds(shares, positionOf));
  const ordered = orderByTarget(edges, nodes.length, positionOf, moments.length);
  return { nodes, ...ordered, moments: moments.length, seeds };
}

/** The nodes of an edge or a seed, ascending, and the position of each node among them. */
function placeNodes({ sources, targets }: EntryEdges, starts: readonly (readonly Share[])[], size: number) {
  const isTouched = new Uint8Array(size);
  for (const [edge, target] of targets.entries()) if (target >= 0) isTouched[sources[edge]!] = isTouched[target] = 1;
  for (const shares of starts) for (const { node } of shares) isTouched[node] = 1;
  const nodes = Int32Array.from(isTouched.keys()).filter((node) => isTouched[node] === 1);
  const positionOf = new Int32Array(size);
  for (const [position, node] of nodes.entries()) positionOf[node] = position;
  return { nodes, positionOf };
}

function listEntryEdges(moments: readonly GraphMoment[], damping: number): EntryEdges {
  const room = countRoom(moments);
  const total = room.reduce((sum, count) => sum + count, 0);
  const sources = new Int32Array(total);
  const targets = new Int32Array(total).fill(-1);
  const probabilities = new Float64Array(total * moments.length);
  const { adjacency } = moments[0]!;
  for (let node = 0, first = 0; node < room.length; first += room[node++]!) {
    const begin = adjacency.offsets[node]!;
    for (const [m, moment] of moments.entries()) {
      const weight = moment.has(node) ? moment.sumWeights(node) : 0;
      if (weight === 0) continue;
      moment.forEachNeighbour(node, (neighbour, edgeWeight, entry) => {
        const edge = first + entry - begin;
        sources[edge] = node;
        targets[edge] = neighbour;
        probabilities[edge * moments.length + m] = (damping / weight) * edgeWeight;
      });
    }
  }
  return { sources, targets, probabilities };
}

function locateSeeds(shares: readonly Share[], positionOf: Int32Array): SeedDistribution {
  const placed = [...shares].sort((a, b) => a.node - b.node);
  return {
    positions: Int32Array.from(placed, ({ node }) => positionOf[node]!),
    shares: Float64Array.from(placed, ({ share }) => share),
  };
}

/** A stable counting sort that leaves hidden edges out. */
function orderByTarget(
  { sources, targets, probabilities }: EntryEdges,
  nodes: number,
  positionOf: Int32Array,
  moments: number,
) {
  const offsets = new Int32Array(nodes + 1);
  for (const target of targets) if (target >= 0) offsets[positionOf[target]! + 1]!++;
  for (let node = 0; node < nodes; node++) offsets[node + 1]! += offsets[node]!;
  const next = offsets.slice();
  const count = offsets[nodes]!;
  const ordered = { offsets, sources: new Int32Array(count), probabilities: new Float64Array(count * moments) };
  for (const [edge, target] of targets.entries()) {
    if (target < 0) continue;
    const place = next[positionOf[target]!]!++;
    ordered.sources[place] = positionOf[sources[edge]!]!;
    for (let m = 0; m < moments; m++) ordered.probabilities[place * moments + m] = probabilities[edge * moments + m]!;
  }
  return ordered;
}

/** The matrix of the walks of a single moment: damping Pᵀ, [V, V]. */
export function readIncoming({ nodes, offsets, sources, probabilities }: MomentWalks): SparseMatrix {
  return { rows: nodes.length, columns: nodes.length, offsets, columnOf: sources, values: probabilities };
}

/** Row-major [V, M]: 1 where no edge leaves a position at a moment. */
export function markDangling({ nodes, sources, probabilities, moments }: MomentWalks): Uint8Array {
  const marks = new Uint8Array(nodes.length * moments).fill(1);
  for (const [i, probability] of probabilities.entries())
    if (probability > 0) marks[sources[Math.floor(i / moments)]! * moments + (i % moments)] = 0;
  return marks;
}
