import { CONCEPT, type TemporalAdjacency } from './temporal-adjacency.ts';

/** The memories that a query may see, by number; their edges and what they mention are visible with them. */
export interface VisibleMemories {
  /** [memories] 1 for each that is visible. */
  readonly isVisible: Uint8Array;
  /** [V] the number of the memory of each node, -1 for a concept. */
  readonly memoryOf: Int32Array;
}

/** What a walk is made on: a graph at a moment, and what of it is visible. */
export interface MomentOptions {
  /** Nodes and edges exist at a moment when their time is earlier. */
  readonly asOf: number;
  /**
   * Hides all other memories wholly: no walk passes through them or along what they brought, and specificity does not count them. The times of the edges must then be
   * numbers of memories, as in a concept graph. null: everything that exists is visible.
   */
  readonly visible?: VisibleMemories | null;
  /** Multiplies the weight of a mention by the specificity of its concept. */
  readonly scalesMentions?: boolean;
}

/** A graph as of a moment. */
export class GraphMoment {
  readonly adjacency: TemporalAdjacency;
  /** Entries that were read so far. */
  operations = 0;
  readonly #asOf: number;
  readonly #visible: VisibleMemories | null;
  readonly #scalesMentions: boolean;
  readonly #specificities = new Map<number, number>();

  constructor(adjacency: TemporalAdjacency, { asOf, visible = null, scalesMentions = false }: MomentOptions) {
    this.adjacency = adjacency;
    this.#asOf = asOf;
    this.#visible = visible;
    this.#scalesMentions = scalesMentions;
  }

  /** Whether a node exists and is no hidden memory. */
  has(node: number): boolean {
    return this.adjacency.nodeTimes[node]! < this.#asOf && !this.#isHidden(node);
  }

  #isHidden(node: number): boolean {
    if (this.#visible === null) return false;
    const memory = this.#visible.memoryOf[node]!;
    return memory >= 0 && this.#visible.isVisible[memory] === 0;
  }

  /** Calls `visit` with each neighbour of a node and the weight of the edge, in the order in which the edges began to exist. */
  forEachNeighbour(node: number, visit: (neighbour: number, weight: number) => void): void {
    const { neighbours, weights, mentions, offsets } = this.adjacency;
    const end = this.adjacency.findEnd(node, this.#asOf);
    this.operations += end - offsets[node]!;
    for (let entry = offsets[node]!; entry < end; entry++) {
      const neighbour = neighbours[entry]!;
      if (this.#visible !== null && (this.#isBroughtByHidden(entry) || this.#isHidden(neighbour))) continue;
      const mention = mentions[entry]!;
      const scale =
        mention === 0 || !this.#scalesMentions
          ? 1
          : this.computeSpecificity(mention === CONCEPT.self ? node : neighbour);
      visit(neighbour, weights[entry]! * scale);
    }
  }

  #isBroughtByHidden(entry: number): boolean {
    return this.#visible?.isVisible[this.adjacency.times[entry]!] === 0;
  }

  /** The edges of a node that exist, hidden ones among them: what it costs to follow them. O(log degree). */
  countEdges(node: number): number {
    return this.adjacency.findEnd(node, this.#asOf) - this.adjacency.offsets[node]!;
  }

  /** The weight of the visible edges of a node: O(log degree) where nothing is hidden or scaled. */
  sumWeights(node: number): number {
    if (this.#visible === null && !this.#scalesMentions) return this.adjacency.sumWeights(node, this.#asOf);
    let sum = 0;
    this.forEachNeighbour(node, (_, weight) => {
      sum += weight;
    });
    return sum;
  }

  /** 1 / the visible memories that mention a concept; 0 for a concept that none mentions. */
  computeSpecificity(concept: number): number {
    const known = this.#specificities.get(concept);
    if (known !== undefined) return known;
    const count = this.#countMentions(concept);
    const specificity = count === 0 ? 0 : 1 / count;
    this.#specificities.set(concept, specificity);
    return specificity;
  }

  #countMentions(concept: number): number {
    if (this.#visible === null) return this.adjacency.countMentions(concept, this.#asOf);
    let count = 0;
    const { mentions, offsets } = this.adjacency;
    const end = this.adjacency.findEnd(concept, this.#asOf);
    this.operations += end - offsets[concept]!;
    for (let entry = offsets[concept]!; entry < end; entry++)
      if (mentions[entry] === CONCEPT.self && !this.#isBroughtByHidden(entry)) count++;
    return count;
  }
}
