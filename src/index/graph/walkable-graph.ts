import { GrowingArray } from '../../core/numbers/growing-array.ts';
import type { ConceptEdge, ConceptGraph, ConceptNode, EdgeKind } from './concept-graph.ts';
import { type KindedEdges, TemporalAdjacency, type TimedEdges } from './temporal-adjacency.ts';

/** The factor of the edges of each kind; 0 leaves the kind out. */
export interface EdgeWeights extends Readonly<Record<EdgeKind, number>> {
  /** An edge of names, as seen from the memory that is named. */
  readonly namedBy: number;
}

/**
 * A concept graph ready for walks: its adjacency, and where its memories and concepts are in it. Nodes are in the
 * order in which the graph got them, so that later memories change no node before them.
 */
export class WalkableGraph {
  readonly graph: ConceptGraph;
  readonly adjacency: TemporalAdjacency;
  readonly #weights: EdgeWeights;
  readonly #nodeTimes = new GrowingArray(new Float64Array(0));
  readonly #memoryNodes = new GrowingArray(new Int32Array(0));
  readonly #memoryOf = new GrowingArray(new Int32Array(0));
  readonly #conceptNodes = new Map<string, number>();
  /** Edges of the concept graph that were read so far. */
  #read = 0;

  /** @param disturb what the edges are replaced by; such a graph does not grow. */
  constructor(graph: ConceptGraph, weights: EdgeWeights, disturb: (edges: KindedEdges) => TimedEdges) {
    this.graph = graph;
    this.#weights = weights;
    this.adjacency = new TemporalAdjacency(disturb(this.#readLater()));
  }

  /** [memories] the node of each memory, in time order. */
  get memoryNodes(): Int32Array {
    return this.#memoryNodes.numbers;
  }

  /** [V] the number of the memory of each node, -1 for a concept. */
  get memoryOf(): Int32Array {
    return this.#memoryOf.numbers;
  }

  /** Nodes of the concepts by the names that the concept graph has for them. */
  get conceptNodes(): ReadonlyMap<string, number> {
    return this.#conceptNodes;
  }

  /**
   * Takes in what was added to the concept graph: O(1) for each node and edge on average. The result is that of a new
   * build.
   */
  grow(): this {
    if (this.#read < this.graph.edges.length || this.adjacency.size < this.graph.nodes.length)
      this.adjacency.append(this.#readLater());
    return this;
  }

  /** The edges that were not read yet, with the times of all nodes. */
  #readLater(): KindedEdges {
    this.#readNodes();
    const most = this.graph.edges.length - this.#read;
    const kinds: EdgeKind[] = [];
    const [sources, targets] = [new Int32Array(most), new Int32Array(most)];
    const [weights, reverseWeights, times] = [new Float64Array(most), new Float64Array(most), new Float64Array(most)];
    const [isMention, isAlias] = [new Uint8Array(most), new Uint8Array(most)];
    this.#visitLater(({ kind, weight, time }, source, target) => {
      const [forward, back] = [this.#weights[kind], this.#weights[kind === 'names' ? 'namedBy' : kind]];
      if (!(forward + back > 0)) return;
      const edge = kinds.push(kind) - 1;
      sources[edge] = source;
      targets[edge] = target;
      weights[edge] = weight * forward;
      reverseWeights[edge] = weight * back;
      times[edge] = time;
      isMention[edge] = kind === 'mentions' || kind === 'names' ? 1 : 0;
      isAlias[edge] = kind === 'alias' ? 1 : 0;
    });
    const arrays = { sources, targets, weights, reverseWeights, times, isMention, isAlias };
    const cut = Object.entries(arrays).map(([name, numbers]) => [name, numbers.subarray(0, kinds.length)]);
    return { nodeTimes: this.#nodeTimes.numbers, ...(Object.fromEntries(cut) as typeof arrays), kinds };
  }

  #readNodes(): void {
    const { graph, nodes } = this.graph;
    for (let node = this.#nodeTimes.length; node < nodes.length; node++) {
      const { kind, time } = graph.getNodeAttributes(nodes[node]);
      this.#nodeTimes.push(time);
      this.#memoryOf.push(kind === 'memory' ? time : -1);
      if (kind === 'memory') this.#memoryNodes.push(node);
      else this.#conceptNodes.set(nodes[node]!, node);
    }
  }

  /** Calls `visit` with each edge that was not read yet and with its nodes, in the order in which edges were added. */
  #visitLater(visit: (edge: ConceptEdge, source: number, target: number) => void): void {
    const { graph, edges } = this.graph;
    const memoryNodes = this.#memoryNodes.numbers;
    const find = (name: string, { kind, time }: ConceptNode) =>
      kind === 'memory' ? memoryNodes[time]! : this.#conceptNodes.get(name)!;
    if (this.#read === 0)
      graph.forEachEdge((_, edge, source, target, from, to) => visit(edge, find(source, from), find(target, to)));
    else
      for (const key of edges.slice(this.#read)) {
        const [source, target] = graph.extremities(key);
        const [from, to] = [graph.getNodeAttributes(source), graph.getNodeAttributes(target)];
        visit(graph.getEdgeAttributes(key), find(source, from), find(target, to));
      }
    this.#read = edges.length;
  }
}

/**
 * The adjacency of a concept graph.
 *
 * @param disturb what the edges are replaced by.
 */
export function buildWalkableGraph(
  graph: ConceptGraph,
  edgeWeights: EdgeWeights,
  disturb: (edges: KindedEdges) => TimedEdges = (edges) => edges,
): WalkableGraph {
  return new WalkableGraph(graph, edgeWeights, disturb);
}
