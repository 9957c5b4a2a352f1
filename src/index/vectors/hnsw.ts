import hnswlib from 'hnswlib-node';
import { multiplyRows, viewRow } from '../../core/tensors/rows.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import { isZero } from '../candidates/query-batch.ts';
import type { TopSelection } from '../candidates/top-selection.ts';
import { isListed } from '../candidates/visible-turns.ts';
import type { HnswOptions } from './hnsw-options.ts';
import { Replay, type ReplayedQuery, type ReplayedTurns } from './replay.ts';

/** The part of hnswlib-node that is used, so that a build of it from elsewhere can be measured. */
export type HnswLibrary = Pick<typeof hnswlib, 'HierarchicalNSW'>;
export type HnswGraph = InstanceType<HnswLibrary['HierarchicalNSW']>;

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

/** A graph without points. @param capacity how many points it has room for. */
export function startGraph(
  space: 'ip' | 'l2',
  dimension: number,
  capacity: number,
  { m, efConstruction, efSearch, seed }: HnswOptions,
  library: HnswLibrary = hnswlib,
): HnswGraph {
  const graph = new library.HierarchicalNSW(space, dimension);
  graph.initIndex({ maxElements: capacity, m, efConstruction, randomSeed: seed });
  graph.setEf(efSearch);
  return graph;
}

/**
 * Approximate search by cosine in a navigable small-world graph (hnswlib), by replay, so that no filter cuts the paths
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
  readonly name = 'hnsw';
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
    library: HnswLibrary = hnswlib,
    scannedPerRoot: number = SCANNED_PER_ROOT,
  ) {
    super(turns);
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
    for (let position = start; position < end; position++) {
      const vector = viewRow(vectors, dimension, position);
      if (isZero(vector)) continue;
      this.#graph ??= startGraph('ip', dimension, ids.length - this.zeroTurns.length, this.#options, this.#library);
      this.#graph.addPoint(Array.from(vector), position);
      await this.pause();
    }
  }

  protected async clear(): Promise<void> {
    this.#graph = null;
  }

  protected async offerBest({ vector, cutoff, list }: ReplayedQuery, k: number, top: TopSelection): Promise<void> {
    const size = this.#countTurns(cutoff);
    const considered = Math.max(k, this.#options.efSearch);
    const visible = list === null ? null : this.#listDirected(list, cutoff);
    if (visible !== null && isScanCheaper(visible.length, size, considered, this.#scannedPerRoot))
      return this.#offerListed(visible, vector, top);
    await this.growTo(cutoff);
    if (this.#graph === null) return;
    const count = visible?.length ?? size;
    const isWhole = count === size;
    const width = isWhole ? k : Math.ceil((considered * size) / count);
    const { neighbors, distances } = this.#graph.searchKnn(Array.from(vector), Math.min(width, size));
    const found = [...neighbors.keys()].filter((i) => isWhole || isListed(visible as Int32Array, neighbors[i]!));
    if (visible !== null && found.length < Math.min(k, count)) this.#offerListed(visible, vector, top);
    else for (const i of found) top.offer(neighbors[i]!, 1 - distances[i]!);
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

  #offerListed(visible: Int32Array, vector: Float32Array, top: TopSelection): void {
    const { vectors, dimension } = this.turns;
    for (const position of visible) top.offer(position, multiplyRows(vectors, position, vector, 0, dimension));
  }
}

export function createHnsw(
  options: Omit<HnswOptions, 'seed'>,
  { corpus, vectors, dimension, seed }: IndexContext,
): HnswIndex {
  return new HnswIndex({ ids: corpus.turns.map(({ id }) => id), vectors, dimension }, { ...options, seed });
}
