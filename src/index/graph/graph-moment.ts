import { findConcepts } from '../../model/text/concepts.ts';
import { findEntities } from '../../model/text/entities.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { ConceptGraph } from './concept-graph.ts';
import { ALIAS, MENTIONED, type TemporalAdjacency } from './temporal-adjacency.ts';
import type { WalkableGraph } from './walkable-graph.ts';

/** The concepts of a text: its names, quoted titles and numbers, or its noun phrases, names and quoted titles. */
export type TextConceptSource = 'names' | 'phrases';

/**
 * The concepts of a text and its title, each once, in the order of the text: what a {@link ConceptGraph} joins memories
 * by. Tagging parts of speech takes milliseconds a text.
 *
 * @param title null for none.
 */
export function listConcepts(text: string, title: string | null = null, source: TextConceptSource = 'names'): string[] {
  if (source === 'phrases') return findConcepts(text, title ?? undefined).map(({ form }) => form);
  const concepts = new Set(findEntities(text));
  if (title !== null && title.trim() !== '') concepts.add(title.trim().toLowerCase());
  return [...concepts];
}

/** The title of a turn: its attribute `title`, if that is a text; null for none. */
export function readTitle({ attributes }: Turn): string | null {
  const title = attributes?.title;
  return typeof title === 'string' ? title : null;
}

interface Kept<T> {
  readonly key: string;
  readonly value: Promise<T>;
}

function keepLast<T>(kept: WeakMap<Corpus, Kept<T>>, corpus: Corpus, key: string, make: () => Promise<T>): Promise<T> {
  const last = kept.get(corpus);
  if (last?.key === key) return last.value;
  const value = make();
  kept.set(corpus, { key, value });
  return value;
}

/**
 * The concept graphs of corpora for indexes that share them. For each corpus the graph that was asked for last is kept,
 * and its arrays by the last weights of edges, so that memory does not grow with the number of arms. The concepts and
 * vectors of a corpus are always the same.
 */
export class KeptGraphs {
  readonly #graphs = new WeakMap<Corpus, Kept<ConceptGraph>>();
  readonly #walkable = new WeakMap<Corpus, Kept<WalkableGraph>>();
  /** Graphs built so far, without those that grew. */
  built = 0;

  /** The graph of a corpus if it was kept under the key, else the one that is made, which replaces it. */
  keepGraph(corpus: Corpus, key: string, make: () => Promise<ConceptGraph>): Promise<ConceptGraph> {
    return keepLast(this.#graphs, corpus, key, make);
  }

  /** The arrays of a graph, as {@link KeptGraphs.keepGraph}. */
  keepWalkable(corpus: Corpus, key: string, make: () => Promise<WalkableGraph>): Promise<WalkableGraph> {
    return keepLast(this.#walkable, corpus, key, make);
  }
}

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
  /** Multiplies the weight of a mention by the specificity of what is mentioned: a concept, or a memory that others name. */
  readonly scalesMentions?: boolean;
}

/** A graph as of a moment. */
export class GraphMoment {
  readonly adjacency: TemporalAdjacency;
  /** Entries that were read so far. */
  operations = 0;
  /** Nodes and edges exist when their time is earlier. */
  readonly asOf: number;
  readonly #visible: VisibleMemories | null;
  readonly #scalesMentions: boolean;
  readonly #specificities = new Map<number, number>();

  constructor(adjacency: TemporalAdjacency, { asOf, visible = null, scalesMentions = false }: MomentOptions) {
    this.adjacency = adjacency;
    this.asOf = asOf;
    this.#visible = visible;
    this.#scalesMentions = scalesMentions;
  }

  /** True if a node exists and is no hidden memory. */
  has(node: number): boolean {
    return this.adjacency.nodeTimes[node]! < this.asOf && !this.#isHidden(node);
  }

  #isHidden(node: number): boolean {
    if (this.#visible === null) return false;
    const memory = this.#visible.memoryOf[node]!;
    return memory >= 0 && this.#visible.isVisible[memory] === 0;
  }

  /**
   * Calls `visit` with each neighbour of a node, the weight of the edge and its entry in the adjacency, in the order in
   * which the edges began to exist.
   */
  forEachNeighbour(node: number, visit: (neighbour: number, weight: number, entry: number) => void): void {
    const { neighbours, weights, mentions, offsets } = this.adjacency;
    const end = this.adjacency.findEnd(node, this.asOf);
    this.operations += end - offsets[node]!;
    if (this.#visible === null && !this.#scalesMentions) {
      for (let entry = offsets[node]!; entry < end; entry++)
        if (weights[entry] !== 0) visit(neighbours[entry]!, weights[entry]!, entry);
      return;
    }
    for (let entry = offsets[node]!; entry < end; entry++) {
      const neighbour = neighbours[entry]!;
      if (weights[entry] === 0) continue;
      const mention = mentions[entry]!;
      if (this.#visible !== null && this.#isEdgeHidden(node, entry)) continue;
      const scale =
        mention === 0 || mention === ALIAS || !this.#scalesMentions
          ? 1
          : this.computeSpecificity(mention === MENTIONED.self ? node : neighbour);
      visit(neighbour, weights[entry]! * scale, entry);
    }
  }

  /** Spellings are joined as long as visible memories mention both, whoever mentioned them first. */
  #isEdgeHidden(node: number, entry: number): boolean {
    const neighbour = this.adjacency.neighbours[entry]!;
    if (this.adjacency.mentions[entry] === ALIAS)
      return this.computeSpecificity(node) === 0 || this.computeSpecificity(neighbour) === 0;
    return this.#isBroughtByHidden(entry) || this.#isHidden(neighbour);
  }

  #isBroughtByHidden(entry: number): boolean {
    return this.#visible?.isVisible[this.adjacency.times[entry]!] === 0;
  }

  /** The edges of a node that exist, hidden ones among them: what it costs to follow them. O(log degree). */
  countEdges(node: number): number {
    return this.adjacency.findEnd(node, this.asOf) - this.adjacency.offsets[node]!;
  }

  /** The weight of the visible edges of a node: O(log degree) where nothing is hidden or scaled. */
  sumWeights(node: number): number {
    if (this.#visible === null && !this.#scalesMentions) return this.adjacency.sumWeights(node, this.asOf);
    let sum = 0;
    this.forEachNeighbour(node, (_, weight) => {
      sum += weight;
    });
    return sum;
  }

  /** 1 / the visible memories that mention a concept or name a memory; 0 for one that none mentions. */
  computeSpecificity(node: number): number {
    const known = this.#specificities.get(node);
    if (known !== undefined) return known;
    const count = this.#countMentions(node);
    const specificity = count === 0 ? 0 : 1 / count;
    this.#specificities.set(node, specificity);
    return specificity;
  }

  #countMentions(node: number): number {
    if (this.#visible === null) return this.adjacency.countMentions(node, this.asOf);
    let count = 0;
    const { mentions, neighbours, offsets } = this.adjacency;
    const end = this.adjacency.findEnd(node, this.asOf);
    this.operations += end - offsets[node]!;
    for (let entry = offsets[node]!; entry < end; entry++)
      if (mentions[entry] === MENTIONED.self && !this.#isBroughtByHidden(entry) && !this.#isHidden(neighbours[entry]!))
        count++;
    return count;
  }
}
