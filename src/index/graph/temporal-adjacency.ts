import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { EdgeKind } from './concept-graph.ts';

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

/** The numbers of the entries of all nodes. */
interface Entries {
  readonly neighbours: Int32Array;
  readonly times: Float64Array;
  readonly weights: Float64Array;
  readonly mentions: Uint8Array;
  /** The weight of the entries of a node up to and with each. */
  readonly weightUpTo: Float64Array;
  /** The mentions among the entries of a node up to and with each. */
  readonly mentionsUpTo: Int32Array;
}

const allocateEntries = (count: number): Entries => ({
  neighbours: new Int32Array(count),
  times: new Float64Array(count),
  weights: new Float64Array(count),
  mentions: new Uint8Array(count),
  weightUpTo: new Float64Array(count),
  mentionsUpTo: new Int32Array(count),
});

function lengthenEntries(entries: Entries, count: number): Entries {
  const longer = allocateEntries(count);
  for (const name of Object.keys(entries) as (keyof Entries)[]) longer[name].set(entries[name]);
  return longer;
}

/** The least room for the entries of a node that gets more of them. */
const LEAST_ROOM = 4;

/**
 * The neighbours of each node in the order in which the edges began to exist: those that exist at a moment are a
 * prefix, found by binary search, and prefix sums give their number, their weight and the mentions among them in
 * O(log degree). An edge exists from its own time on, once both of its ends do; edges of one time keep their order,
 * so that later edges change nothing in what was before.
 *
 * The entries of a node are a run of the arrays. A node that gets more of them than there is room for moves to the
 * end of the arrays, with room for twice as many.
 */
export class TemporalAdjacency {
  #nodeTimes: Float64Array;
  /** [V] where the entries of each node begin, and end, and where its room ends. */
  #offsets: Int32Array;
  #ends: Int32Array;
  #limits: Int32Array;
  #growing: readonly GrowingArray<Int32Array>[] | null = null;
  #entries: Entries;
  /** Entries that have a place, room among them. */
  #placed: number;

  /** @throws DimensionMismatchError for arrays of different lengths; ValidationError for an end that is no node, and a weight that is not above 0. */
  constructor(edges: TimedEdges) {
    assertTimedEdges(edges);
    const { nodeTimes, sources, targets } = edges;
    const limits = countEntries(nodeTimes.length, sources, targets);
    this.#nodeTimes = nodeTimes;
    this.#offsets = limits.slice(0, -1);
    this.#ends = limits.slice(0, -1);
    this.#limits = limits.slice(1);
    this.#placed = 2 * sources.length;
    this.#entries = allocateEntries(this.#placed);
    this.#addEdges(edges, computeBegins(edges));
  }

  /**
   * Takes in more nodes and edges: O(1) for each on average.
   *
   * @param edges more of them, with the times of all nodes, those that are there first.
   * @throws as the constructor; ValidationError for an edge that begins to exist before an edge of the same node.
   */
  append(edges: TimedEdges): void {
    assertTimedEdges(edges);
    const begins = computeBegins(edges);
    for (const [edge, time] of begins.entries())
      for (const end of [edges.sources[edge]!, edges.targets[edge]!])
        if (end < this.size && this.#isBeforeLast(end, time))
          throw new ValidationError(
            `edge ${edge} begins to exist before others of its node: ${time}; append later edges`,
          );
    this.#nodeTimes = edges.nodeTimes;
    this.#growing ??= [this.#offsets, this.#ends, this.#limits].map((places) => new GrowingArray(places));
    for (let node = this.#offsets.length; node < this.size; node++)
      for (const places of this.#growing) places.push(this.#placed);
    [this.#offsets, this.#ends, this.#limits] = this.#growing.map(({ numbers }) => numbers) as [
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    this.#addEdges(edges, begins);
  }

  #isBeforeLast(node: number, time: number): boolean {
    const end = this.#ends[node]!;
    return end > this.#offsets[node]! && this.#entries.times[end - 1]! > time;
  }

  #addEdges(edges: TimedEdges, begins: Float64Array): void {
    const { sources, targets, weights, reverseWeights = weights, isMention, isAlias } = edges;
    const describe = (edge: number, mentioned: number) =>
      isMention[edge] === 1 ? mentioned : isAlias?.[edge] === 1 ? ALIAS : 0;
    for (const edge of orderByTime(begins)) {
      const [source, target, time] = [sources[edge]!, targets[edge]!, begins[edge]!];
      this.#addEntry(source, target, time, weights[edge]!, describe(edge, MENTIONED.neighbour));
      this.#addEntry(target, source, time, reverseWeights[edge]!, describe(edge, MENTIONED.self));
    }
  }

  #addEntry(from: number, to: number, time: number, weight: number, mention: number): void {
    if (this.#ends[from] === this.#limits[from]) this.#makeRoom(from);
    const { neighbours, times, weights, mentions, weightUpTo, mentionsUpTo } = this.#entries;
    const entry = this.#ends[from]!++;
    const isFirst = entry === this.#offsets[from];
    neighbours[entry] = to;
    times[entry] = time;
    weights[entry] = weight;
    mentions[entry] = mention;
    weightUpTo[entry] = (isFirst ? 0 : weightUpTo[entry - 1]!) + weight;
    mentionsUpTo[entry] = (isFirst ? 0 : mentionsUpTo[entry - 1]!) + (mention === MENTIONED.self ? 1 : 0);
  }

  /** Moves the entries of a node to the end of the arrays, with room for twice as many. */
  #makeRoom(node: number): void {
    const [begin, end] = [this.#offsets[node]!, this.#ends[node]!];
    const moved = this.#placed;
    this.#placed += Math.max(LEAST_ROOM, 2 * (end - begin));
    if (this.#placed > this.#entries.times.length) this.#entries = lengthenEntries(this.#entries, 2 * this.#placed);
    for (const numbers of Object.values(this.#entries)) numbers.copyWithin(moved, begin, end);
    this.#offsets[node] = moved;
    this.#ends[node] = moved + end - begin;
    this.#limits[node] = this.#placed;
  }

  /** V. */
  get size(): number {
    return this.#nodeTimes.length;
  }

  /** [V] */
  get nodeTimes(): Float64Array {
    return this.#nodeTimes;
  }

  /** [V] where the entries of each node begin. */
  get offsets(): Int32Array {
    return this.#offsets;
  }

  /** The neighbour of each entry. */
  get neighbours(): Int32Array {
    return this.#entries.neighbours;
  }

  /** When each entry began to exist, ascending within a node. */
  get times(): Float64Array {
    return this.#entries.times;
  }

  /** The weight of each entry. */
  get weights(): Float64Array {
    return this.#entries.weights;
  }

  /** Which end of each entry is mentioned, see {@link MENTIONED}, or {@link ALIAS}; 0 for other edges. */
  get mentions(): Uint8Array {
    return this.#entries.mentions;
  }

  /** Where the entries of a node end that exist before a moment; they begin at `offsets[node]`. */
  findEnd(node: number, asOf: number): number {
    return findLowerBound(this.#entries.times, asOf, this.#offsets[node]!, this.#ends[node]!);
  }

  /** The weight of the edges of a node before a moment. */
  sumWeights(node: number, asOf: number): number {
    const end = this.findEnd(node, asOf);
    return end === this.#offsets[node] ? 0 : this.#entries.weightUpTo[end - 1]!;
  }

  /** The memories that mention a concept, or name a memory, before a moment. */
  countMentions(node: number, asOf: number): number {
    const end = this.findEnd(node, asOf);
    return end === this.#offsets[node] ? 0 : this.#entries.mentionsUpTo[end - 1]!;
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
