import hnswlib from 'hnswlib-node';
import { findAddon, loadAddon } from '../../core/backends/native-addon.ts';
import { multiplyRows, viewRow } from '../../core/tensors/rows.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import { isListed, isZero } from '../candidates/query-batch.ts';
import type { TopSelection } from '../candidates/top-selection.ts';
import { Replay, type ReplayedQueries, type ReplayedTurns, readReplayedTurns } from './replay.ts';
import type { HnswOptions } from './vector-kind.ts';

/** The comparison of a graph: 1 - product, or the squared Euclidean distance. */
export type GraphSpace = 'ip' | 'l2';

/** Points of a graph near B queries, K places each, best first. */
export interface Nearest {
  /** Row-major [B, K] their labels; -1 where the graph finds fewer. */
  readonly labels: Int32Array;
  /** Row-major [B, K] */
  readonly distances: Float32Array;
}

/** A navigable small-world graph over rows by number. */
export interface HnswGraph {
  /** The number of points, hidden ones included. */
  count(): number;
  /**
   * Adds rows in their order.
   *
   * @param rows row-major [n, D]
   * @param labels [n] none of them in the graph.
   */
  add(rows: Float32Array, labels: Int32Array): void;
  /** Hides a point; it stays in the graph as a way to others. */
  remove(label: number): void;
  /**
   * The best k points for each query.
   *
   * @param queries row-major [B, D]
   * @param k at most the number of points.
   * @param shown [labels] 1 for each label that may be found; absent: every label.
   */
  search(queries: Float32Array, k: number, shown?: Uint8Array): Nearest;
  /** Writes a file that {@link HnswLibrary.read} reads. The graph may be searched, but not changed meanwhile. */
  write(path: string): Promise<unknown>;
}

/** An implementation of graphs. Those of one name compute the same bits, and read what the other wrote. */
export interface HnswLibrary {
  /** The name of its index. */
  readonly name: 'hnsw' | 'usearch';
  /** @param capacity how many points it has room for; it doubles the room when the graph is full. */
  create(space: GraphSpace, dimension: number, capacity: number, options: HnswOptions): HnswGraph;
  /** Reads what {@link HnswGraph.write} wrote. @throws Error for another file. */
  read(space: GraphSpace, dimension: number, path: string, options: HnswOptions): HnswGraph;
}

/** The part of hnswlib-node that is used. */
export type HnswlibNode = Pick<typeof hnswlib, 'HierarchicalNSW'>;

/** A graph of hnswlib-node, which takes points as lists of numbers and a filter as a function. */
class HnswlibGraph implements HnswGraph {
  readonly #graph: InstanceType<HnswlibNode['HierarchicalNSW']>;

  constructor(graph: InstanceType<HnswlibNode['HierarchicalNSW']>) {
    this.#graph = graph;
  }

  count(): number {
    return this.#graph.getCurrentCount();
  }

  add(rows: Float32Array, labels: Int32Array): void {
    const dimension = this.#graph.getNumDimensions();
    const point = new Array<number>(dimension); // the graph copies it
    for (const [i, label] of labels.entries()) {
      const capacity = this.#graph.getMaxElements();
      if (this.#graph.getCurrentCount() >= capacity) this.#graph.resizeIndex(2 * capacity);
      for (let d = 0; d < dimension; d++) point[d] = rows[i * dimension + d] as number;
      this.#graph.addPoint(point, label);
    }
  }

  remove(label: number): void {
    this.#graph.markDelete(label);
  }

  search(queries: Float32Array, k: number, shown?: Uint8Array): Nearest {
    const accepts = shown === undefined ? undefined : (label: number) => shown[label] === 1;
    const dimension = this.#graph.getNumDimensions();
    const count = queries.length / dimension;
    const [labels, distances] = [new Int32Array(count * k).fill(-1), new Float32Array(count * k)];
    for (let i = 0; i < count; i++) {
      const found = this.#graph.searchKnn(Array.from(viewRow(queries, dimension, i)), k, accepts);
      labels.set(found.neighbors, i * k);
      distances.set(found.distances, i * k);
    }
    return { labels, distances };
  }

  write(path: string): Promise<unknown> {
    return this.#graph.writeIndex(path);
  }
}

/** @param library hnswlib-node, or a build of it from elsewhere that is measured. */
export function wrapHnswlib({ HierarchicalNSW }: HnswlibNode): HnswLibrary {
  return {
    name: 'hnsw',
    create(space, dimension, capacity, { m, efConstruction, efSearch, seed }) {
      const graph = new HierarchicalNSW(space, dimension);
      graph.initIndex({ maxElements: capacity, m, efConstruction, randomSeed: seed });
      graph.setEf(efSearch);
      return new HnswlibGraph(graph);
    },
    read(space, dimension, path, { efSearch }) {
      const graph = new HierarchicalNSW(space, dimension);
      graph.readIndexSync(path);
      graph.setEf(efSearch);
      return new HnswlibGraph(graph);
    },
  };
}

/** hnswlib-node as npm installs it. */
export const HNSWLIB: HnswLibrary = wrapHnswlib(hnswlib);

/** The native part that `ragpp backend install hnsw` makes. */
export interface HnswAddon {
  readonly Graph: new (
    space: GraphSpace,
    dimension: number,
    instructions: string,
    ...more: [capacity: number, m: number, efConstruction: number, seed: number] | [path: string]
  ) => HnswGraph & { setBreadth(efSearch: number): void };
  /** The sets of vector instructions that the processor has, the widest first: `avx512`, `avx2`, `sse`. */
  listInstructions(): string[];
}

/**
 * The addon that `ragpp backend install hnsw` made, or else hnswlib-node: their graphs and results have the same bytes.
 *
 * @throws UnavailableError for an addon that does not load.
 */
export function chooseLibrary(): HnswLibrary {
  const found = findAddon('hnsw');
  return 'path' in found ? wrapAddon(found.path) : HNSWLIB;
}

/**
 * @param path of the addon.
 * @param instructions by which it computes; by default the widest that the processor has.
 * @throws UnavailableError for an addon that does not load.
 */
export function wrapAddon(path: string, instructions?: string): HnswLibrary {
  const { Graph, listInstructions } = loadAddon<HnswAddon>('hnsw', path);
  const chosen = instructions ?? (listInstructions()[0] as string);
  return {
    name: 'hnsw',
    create(space, dimension, capacity, { m, efConstruction, efSearch, seed }) {
      const graph = new Graph(space, dimension, chosen, capacity, m, efConstruction, seed);
      graph.setBreadth(efSearch);
      return graph;
    },
    read(space, dimension, path, { efSearch }) {
      const graph = new Graph(space, dimension, chosen, path);
      graph.setBreadth(efSearch);
      return graph;
    },
  };
}

/**
 * Of n turns, v are visible, and ef are considered: to compare all costs v products, to walk the graph about as many as
 * the neighbours fetched, ef n / v. So they cost the same at some multiple of the root of ef n. `npm run bench --
 * filtered-search` measures it: docs/performance.md.
 */
export const SCANNED_PER_ROOT = 3;

/**
 * True if to compare a query with all of `count` visible turns is cheaper than to look for `considered` of them in a
 * graph of `size` turns.
 */
export function isScanCheaper(
  count: number,
  size: number,
  considered: number,
  scannedPerRoot: number = SCANNED_PER_ROOT,
): boolean {
  return count < size && count ** 2 <= scannedPerRoot ** 2 * considered * size;
}

/** The neighbours of a query that hold as many of the `count` visible points, of `size`, as a search considers. */
export const countFetched = (considered: number, size: number, count: number): number =>
  Math.min(size, Math.ceil((considered * size) / count));

/** Rows that are added at once, between which events are let in. */
const ADDED_TOGETHER = 8;

/**
 * Approximate search by cosine in a navigable small-world graph, by replay, so that no filter cuts the paths
 * of the graph. Zero vectors are not added.
 *
 * A query with a list of visible turns is answered by comparing it with all of them, if these are few ( {@link
 * SCANNED_PER_ROOT}). Otherwise it fetches more neighbours: as many of them are visible as a query without a list
 * considers. If fewer than k are, it is compared with all after all.
 *
 * Malkov, Yashunin 2018, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small
 * world graphs".
 */
export class HnswIndex extends Replay {
  readonly name: string;
  readonly #options: HnswOptions;
  readonly #library: HnswLibrary;
  readonly #scannedPerRoot: number;
  /** The lists of visible turns without those that have no direction. */
  readonly #directed = new WeakMap<Int32Array, Int32Array>();
  #graph: HnswGraph | null = null;

  /** @param scannedPerRoot see {@link SCANNED_PER_ROOT}. */
  constructor(
    turns: ReplayedTurns,
    options: HnswOptions,
    library: HnswLibrary = chooseLibrary(),
    scannedPerRoot: number = SCANNED_PER_ROOT,
    compareTies?: TieOrder,
  ) {
    super(turns, compareTies);
    this.name = library.name;
    this.#options = options;
    this.#library = library;
    this.#scannedPerRoot = scannedPerRoot;
  }

  /** The number of turns with a direction before a cutoff. */
  #countTurns(cutoff: number): number {
    return cutoff - findLowerBound(this.zeroTurns, cutoff);
  }

  protected async add(start: number, end: number): Promise<void> {
    const { ids, vectors, dimension } = this.turns;
    for (const positions of this.#listDirectedRuns(start, end)) {
      const capacity = ids.length - this.zeroTurns.length;
      this.#graph ??= this.#library.create('ip', dimension, capacity, this.#options);
      const from = positions[0]! * dimension;
      this.#graph.add(vectors.subarray(from, from + positions.length * dimension), positions);
      await this.pause();
    }
  }

  /** The turns with a direction, in runs of neighbours. */
  *#listDirectedRuns(start: number, end: number): Generator<Int32Array> {
    const { vectors, dimension } = this.turns;
    for (let from = start; from < end; ) {
      let to = from;
      while (to < Math.min(end, from + ADDED_TOGETHER) && !isZero(viewRow(vectors, dimension, to))) to++;
      if (to > from) yield Int32Array.from({ length: to - from }, (_, i) => from + i);
      from = Math.max(to, from + 1);
    }
  }

  protected async clear(): Promise<void> {
    this.#graph = null;
  }

  protected async offerBest(queries: ReplayedQueries, k: number, tops: readonly TopSelection[]): Promise<void> {
    const { members, vectors, cutoff, list } = queries;
    const size = this.#countTurns(cutoff);
    const considered = Math.max(k, this.#options.efSearch);
    const visible = list === null ? null : this.#listDirected(list, cutoff);
    const offerAll = (i: number) => this.#offerListed(visible as Int32Array, vectors, i, tops[i]!);
    if (visible !== null && isScanCheaper(visible.length, size, considered, this.#scannedPerRoot)) {
      for (const i of members.keys()) offerAll(i);
      return;
    }
    await this.growTo(cutoff);
    if (this.#graph === null) return;
    const count = visible?.length ?? size;
    const isWhole = count === size;
    const width = isWhole ? Math.min(size, k) : countFetched(considered, size, count);
    const { labels, distances } = this.#graph.search(vectors, width);
    const isFound = (label: number) => label >= 0 && (isWhole || isListed(visible as Int32Array, label));
    for (const i of members.keys()) {
      const found: number[] = [];
      for (let at = i * width; at < (i + 1) * width; at++) if (isFound(labels[at]!)) found.push(at);
      if (visible !== null && found.length < Math.min(k, count)) offerAll(i);
      else for (const at of found) tops[i]!.offer(labels[at]!, 1 - distances[at]!);
    }
  }

  /** The turns of a list with a direction, before a cutoff. */
  #listDirected(list: Int32Array, cutoff: number): Int32Array {
    let directed = this.#directed.get(list);
    if (directed === undefined) {
      directed = list.filter((position) => !isListed(this.zeroTurns, position));
      this.#directed.set(list, directed);
    }
    return directed.subarray(0, findLowerBound(directed, cutoff));
  }

  #offerListed(visible: Int32Array, queries: Float32Array, query: number, top: TopSelection): void {
    const { vectors, dimension } = this.turns;
    for (const position of visible) top.offer(position, multiplyRows(vectors, position, queries, query, dimension));
  }
}

/** @param library chosen by default among those of hnswlib. */
export function createHnsw(
  options: Omit<HnswOptions, 'seed'>,
  context: IndexContext,
  library: HnswLibrary = chooseLibrary(),
): HnswIndex {
  const { seed, corpus } = context;
  return new HnswIndex(readReplayedTurns(context), { ...options, seed }, library, SCANNED_PER_ROOT, corpus.compareTies);
}
