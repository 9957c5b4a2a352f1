import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { ConceptGraph, EdgeKind } from './concept-graph.ts';

/** A graph whose nodes and undirected edges have times, as arrays: V nodes, E edges. */
export interface TimedEdges {
  /** [V] */
  readonly nodeTimes: Float64Array;
  /** [E] one end of each edge. */
  readonly sources: Int32Array;
  /** [E] the other end. */
  readonly targets: Int32Array;
  /** [E] from 0; above 0 in one direction. */
  readonly weights: Float64Array;
  /** [E] */
  readonly times: Float64Array;
  /** [E] what each edge weighs for a walk from its target to its source, from 0; `weights` where it is left out. */
  readonly reverseWeights?: Float64Array;
  /** [E] 1 for an edge from a memory, its source, to what it mentions, its target: a concept, or a memory that it names. */
  readonly isMention: Uint8Array;
  /** [E] 1 for an edge between two spellings of a concept; none is one where it is left out. */
  readonly isAlias?: Uint8Array;
}

/** Edges with the kind of each. */
export interface KindedEdges extends TimedEdges {
  /** [E] */
  readonly kinds: readonly EdgeKind[];
}

/** Which end of a mention is mentioned, as seen from a node: the neighbour, or the node itself. */
export const MENTIONED = Object.freeze({ neighbour: 1, self: 2 });
/** In place of {@link MENTIONED}: an edge between two spellings of a concept. */
export const ALIAS = 3;

/**
 * The neighbours of each node in the order in which the edges began to exist: those that exist at a moment are a prefix, found by binary search, and prefix sums give
 * their number, their weight and the mentions among them in O(log degree). An edge exists from its own time on, once both of its ends do; edges of one
 * time keep their order, so that later edges change nothing in what was before.
 */
export class TemporalAdjacency {
  /** [V] */
  readonly nodeTimes: Float64Array;
  /** [V + 1] where the entries of each node begin. */
  readonly offsets: Int32Array;
  /** [2E] */
  readonly neighbours: Int32Array;
  /** [2E] when each entry began to exist, ascending within a node. */
  readonly times: Float64Array;
  /** [2E] */
  readonly weights: Float64Array;
  /** [2E] which end is mentioned, see {@link MENTIONED}, or {@link ALIAS}; 0 for other edges. */
  readonly mentions: Uint8Array;
  /** [2E] the weight of the entries of a node up to and with this one. */
  readonly #weightUpTo: Float64Array;
  /** [2E] the mentions among the entries of a node up to and with this one. */
  readonly #mentionsUpTo: Int32Array;

  /** @throws DimensionMismatchError for arrays of different lengths; ValidationError for an end that is no node, and a weight that is not above 0. */
  constructor(edges: TimedEdges) {
    assertTimedEdges(edges);
    const { nodeTimes, sources, targets, weights, reverseWeights = weights, isMention, isAlias } = edges;
    const begins = computeBegins(edges);
    const count = sources.length;
    this.nodeTimes = nodeTimes;
    this.offsets = countEntries(nodeTimes.length, sources, targets);
    this.neighbours = new Int32Array(2 * count);
    this.times = new Float64Array(2 * count);
    this.weights = new Float64Array(2 * count);
    this.mentions = new Uint8Array(2 * count);
    const next = this.offsets.slice();
    const add = (edge: number, from: number, to: number, weight: number, mentioned: number) => {
      const entry = next[from]!++;
      this.neighbours[entry] = to;
      this.times[entry] = begins[edge]!;
      this.weights[entry] = weight;
      this.mentions[entry] = isMention[edge] === 1 ? mentioned : isAlias?.[edge] === 1 ? ALIAS : 0;
    };
    for (const edge of orderByTime(begins)) {
      add(edge, sources[edge]!, targets[edge]!, weights[edge]!, MENTIONED.neighbour);
      add(edge, targets[edge]!, sources[edge]!, reverseWeights[edge]!, MENTIONED.self);
    }
    this.#weightUpTo = new Float64Array(2 * count);
    this.#mentionsUpTo = new Int32Array(2 * count);
    this.#sumPrefixes();
  }

  #sumPrefixes(): void {
    for (let node = 0; node < this.size; node++) {
      let weight = 0;
      let mentions = 0;
      for (let entry = this.offsets[node]!; entry < this.offsets[node + 1]!; entry++) {
        weight += this.weights[entry]!;
        if (this.mentions[entry] === MENTIONED.self) mentions++;
        this.#weightUpTo[entry] = weight;
        this.#mentionsUpTo[entry] = mentions;
      }
    }
  }

  /** V. */
  get size(): number {
    return this.nodeTimes.length;
  }

  /** Where the entries of a node end that exist before a moment; they begin at `offsets[node]`. */
  findEnd(node: number, asOf: number): number {
    return findLowerBound(this.times, asOf, this.offsets[node]!, this.offsets[node + 1]!);
  }

  /** The weight of the edges of a node before a moment. */
  sumWeights(node: number, asOf: number): number {
    const end = this.findEnd(node, asOf);
    return end === this.offsets[node] ? 0 : this.#weightUpTo[end - 1]!;
  }

  /** The memories that mention a concept, or name a memory, before a moment. */
  countMentions(node: number, asOf: number): number {
    const end = this.findEnd(node, asOf);
    return end === this.offsets[node] ? 0 : this.#mentionsUpTo[end - 1]!;
  }
}

function assertTimedEdges(edges: TimedEdges): void {
  const { nodeTimes, sources, targets, weights, reverseWeights = weights, times, isMention } = edges;
  const { isAlias = isMention } = edges;
  const lengths = [sources, targets, weights, reverseWeights, times, isMention, isAlias].map(({ length }) => length);
  if (new Set(lengths).size > 1)
    throw new DimensionMismatchError('timed edges', 'arrays of one length', lengths.join(', '));
  for (let edge = 0; edge < sources.length; edge++) {
    for (const end of [sources[edge]!, targets[edge]!])
      if (nodeTimes[end] === undefined)
        throw new ValidationError(`edge ${edge} has an end outside ${nodeTimes.length} nodes: ${end}; pass nodes`);
    assertEdgeWeights(edge, weights[edge]!, reverseWeights[edge]!);
  }
}

function assertEdgeWeights(edge: number, forward: number, back: number): void {
  for (const weight of [forward, back])
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw new ValidationError(`weight of edge ${edge} is below 0 or not finite: ${weight}; pass a number from 0`);
  if (forward + back === 0) throw new ValidationError(`edge ${edge} weighs 0 in both directions; leave the edge out`);
}

/** [E] when each edge begins to exist. */
function computeBegins({ nodeTimes, sources, targets, times }: TimedEdges): Float64Array {
  return times.map((time, edge) => Math.max(time, nodeTimes[sources[edge]!]!, nodeTimes[targets[edge]!]!));
}

/** [E] the edges by the time at which they begin to exist; a stable sort, left out where they are in order. */
function orderByTime(begins: Float64Array): Int32Array {
  const order = Int32Array.from(begins.keys());
  const ascends = begins.every((time, edge) => edge === 0 || begins[edge - 1]! <= time);
  return ascends ? order : order.sort((a, b) => begins[a]! - begins[b]! || a - b);
}

function countEntries(nodes: number, sources: Int32Array, targets: Int32Array): Int32Array {
  const offsets = new Int32Array(nodes + 1);
  for (const ends of [sources, targets]) for (const end of ends) offsets[end + 1]!++;
  for (let node = 0; node < nodes; node++) offsets[node + 1]! += offsets[node]!;
  return offsets;
}

/** A concept graph ready for walks: its adjacency, and where its memories and concepts are in it. */
export interface WalkableGraph {
  readonly adjacency: TemporalAdjacency;
  /** [memories] the node of each memory, in time order. */
  readonly memoryNodes: Int32Array;
  /** [V] the number of the memory of each node, -1 for a concept. */
  readonly memoryOf: Int32Array;
  /** Nodes of the concepts by the names that the concept graph has for them. */
  readonly conceptNodes: ReadonlyMap<string, number>;
}

/** How much an edge of each kind counts; 0 leaves the kind out. */
export interface EdgeWeights extends Readonly<Record<EdgeKind, number>> {
  /** An edge of names, as seen from the memory that is named. */
  readonly namedBy: number;
}

/**
 * The adjacency of a concept graph. Nodes are in the order in which the graph got them, so that later memories change no node before them.
 *
 * @param disturb what the edges are replaced by.
 */
export function buildWalkableGraph(
  { graph, size }: ConceptGraph,
  edgeWeights: EdgeWeights,
  disturb: (edges: KindedEdges) => TimedEdges = (edges) => edges,
): WalkableGraph {
  const nodeOf = new Map<string, number>();
  const conceptNodes = new Map<string, number>();
  const nodeTimes = new Float64Array(graph.order);
  const memoryNodes = new Int32Array(size);
  const memoryOf = new Int32Array(graph.order).fill(-1);
  graph.forEachNode((name, { kind, time }) => {
    const node = nodeOf.size;
    nodeOf.set(name, node);
    nodeTimes[node] = time;
    if (kind === 'concept') conceptNodes.set(name, node);
    else {
      memoryNodes[time] = node;
      memoryOf[node] = time;
    }
  });
  const weighBack = (kind: EdgeKind) => edgeWeights[kind === 'names' ? 'namedBy' : kind];
  const isKept = (kind: EdgeKind) => edgeWeights[kind] + weighBack(kind) > 0;
  let count = 0;
  graph.forEachEdge((_, { kind }) => {
    if (isKept(kind)) count++;
  });
  const kinds: EdgeKind[] = [];
  const edges = {
    nodeTimes,
    sources: new Int32Array(count),
    targets: new Int32Array(count),
    weights: new Float64Array(count),
    reverseWeights: new Float64Array(count),
    times: new Float64Array(count),
    isMention: new Uint8Array(count),
    isAlias: new Uint8Array(count),
    kinds,
  };
  graph.forEachEdge((_, { kind, weight, time }, source, target) => {
    if (!isKept(kind)) return;
    const edge = kinds.push(kind) - 1;
    edges.sources[edge] = nodeOf.get(source)!;
    edges.targets[edge] = nodeOf.get(target)!;
    edges.weights[edge] = weight * edgeWeights[kind];
    edges.reverseWeights[edge] = weight * weighBack(kind);
    edges.times[edge] = time;
    edges.isMention[edge] = kind === 'mentions' || kind === 'names' ? 1 : 0;
    edges.isAlias[edge] = kind === 'alias' ? 1 : 0;
  });
  return { adjacency: new TemporalAdjacency(disturb(edges)), memoryNodes, memoryOf, conceptNodes };
}
