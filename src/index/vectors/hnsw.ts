import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import hnswlib from 'hnswlib-node';
import { ChecksumMismatchError, StorageError } from '../../core/errors/errors.ts';
import { makeFolder } from '../../core/files/files.ts';
import { multiplyRows, viewRow } from '../../core/tensors/rows.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import type { VectorMatch } from '../../model/vector-index.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import { isListed, isZero } from '../candidates/query-batch.ts';
import type { TopSelection } from '../candidates/top-selection.ts';
import { FlatVectorIndex } from './flat-vectors.ts';
import { Replay, type ReplayedQuery, type ReplayedTurns, readReplayedTurns } from './replay.ts';
import { hashFile, type SavedIndex } from './saved-index.ts';
import { chooseGraph, type HnswOptions, type HnswVectorsOptions, type OpenVectorIndex } from './vector-kind.ts';

/** The part of hnswlib-node that is used, so that a build of it from elsewhere can be measured. */
export type HnswLibrary = Pick<typeof hnswlib, 'HierarchicalNSW'>;
type HnswGraph = InstanceType<HnswLibrary['HierarchicalNSW']>;

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
function startGraph(
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
    compareTies?: TieOrder,
  ) {
    super(turns, compareTies);
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
      const capacity = this.#graph.getMaxElements();
      if (this.#graph.getCurrentCount() >= capacity) this.#graph.resizeIndex(2 * capacity);
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

export function createHnsw(options: Omit<HnswOptions, 'seed'>, context: IndexContext): HnswIndex {
  const { seed, corpus } = context;
  return new HnswIndex(readReplayedTurns(context), { ...options, seed }, hnswlib, SCANNED_PER_ROOT, corpus.compareTies);
}

/** Rows that a graph found, best first. */
interface Nearest {
  readonly slots: readonly number[];
  readonly distances: readonly number[];
}

/**
 * The best k of a graph and all that tie with the last of them, so that the tie rule can choose: asks for more until
 * the last has another distance than the k-th.
 *
 * @param size how many there are.
 */
function listSlotsPastTies(k: number, size: number, search: (wanted: number) => Nearest): readonly number[] {
  for (let wanted = Math.min(size, k + 1); ; wanted = Math.min(size, 2 * wanted)) {
    const { slots, distances } = search(wanted);
    if (slots.length < wanted || wanted === size || distances[k - 1] !== distances.at(-1)) return slots;
  }
}

/** Up to this number of visible vectors a scan is as fast as the graph, and exact. */
const SCANNED_ROWS = 1000;
/** Below this share of visible vectors a scan is faster than a graph whose paths lead over hidden vectors. */
const SCANNED_SHARE = 0.1;
const FIRST_CAPACITY = 1024;

/**
 * Approximate search over vectors that come and go, in a navigable small-world graph (hnswlib). A removed vector stays
 * in the graph as a way to others, hidden from results; when more than half of the graph is hidden, it is rebuilt.
 * Distances of results are measured exactly. A search scans instead where few vectors are visible, and where the graph
 * found fewer than there are.
 *
 * Malkov, Yashunin 2018, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small
 * world graphs".
 */
export class HnswVectorIndex extends FlatVectorIndex {
  override readonly name = 'hnsw';
  protected override readonly rowsOfPause = 1;
  readonly #options: HnswOptions;
  #graph: HnswGraph | null = null;
  /** Slots that the graph shows. */
  readonly #shown = new Set<number>();
  readonly #marks = new WeakMap<Int32Array, Uint8Array>();

  constructor(options: HnswVectorsOptions, dimension: number) {
    super(options, dimension);
    this.#options = chooseGraph(options);
  }

  get #space(): 'ip' | 'l2' {
    return this.distance === 'l2' ? 'l2' : 'ip';
  }

  protected override add(slot: number, replaced: number | undefined): void {
    if (replaced !== undefined) this.drop(replaced);
    if (!this.table.isSearchable(slot)) return;
    this.#graph ??= startGraph(this.#space, this.dimension, FIRST_CAPACITY, this.#options);
    const capacity = this.#graph.getMaxElements();
    if (this.#graph.getCurrentCount() >= capacity) this.#graph.resizeIndex(2 * capacity);
    this.#graph.addPoint(Array.from(this.table.getVector(slot)), slot);
    this.#shown.add(slot);
  }

  protected override drop(slot: number): void {
    if (this.#shown.delete(slot)) this.#graph?.markDelete(slot);
  }

  protected override async rebuild(): Promise<void> {
    this.#graph = null;
    this.#shown.clear();
    for (let slot = 0; slot < this.table.end; slot++) {
      this.add(slot, undefined);
      await this.pause();
    }
  }

  protected override rank(query: Float32Array, k: number, slots: Int32Array | null): VectorMatch[] {
    const { table } = this;
    const seen = slots?.length ?? table.searchable;
    if (seen <= Math.max(SCANNED_ROWS, k, slots === null ? 0 : SCANNED_SHARE * table.searchable))
      return super.rank(query, k, slots);
    const found = this.#searchGraph(query, k, slots);
    return found.length < k ? super.rank(query, k, slots) : this.rankSlots(found, query, k);
  }

  #searchGraph(query: Float32Array, k: number, slots: Int32Array | null): readonly number[] {
    const graph = this.#graph as HnswGraph;
    const point = Array.from(query);
    const marks = slots === null ? undefined : this.#mark(slots);
    const accepts = marks === undefined ? undefined : (slot: number) => marks[slot] === 1;
    return listSlotsPastTies(k, this.#shown.size, (wanted) => {
      const { neighbors, distances } = graph.searchKnn(point, wanted, accepts);
      return { slots: neighbors, distances };
    });
  }

  /** [slots] 1 for those that are listed; kept as long as the list is. */
  #mark(slots: Int32Array): Uint8Array {
    const known = this.#marks.get(slots);
    if (known !== undefined) return known;
    const marks = new Uint8Array(this.table.end);
    for (const slot of slots) marks[slot] = 1;
    this.#marks.set(slots, marks);
    return marks;
  }

  protected override async saveParts(folder: string): Promise<readonly string[]> {
    if (this.#graph === null) return [];
    makeFolder(folder);
    const partial = join(folder, 'graph.partial');
    try {
      await this.#graph.writeIndex(partial);
      this.#assertReadable(partial, this.#graph.getCurrentCount());
      const name = `graph-${(await hashFile(partial)).slice(0, 16)}.hnsw`;
      syncFile(partial);
      renameSync(partial, join(folder, name));
      return [name];
    } catch (error) {
      rmSync(partial, { force: true });
      throw new StorageError('write', join(folder, 'graph'), { cause: error });
    }
  }

  /** The library does not report a full disk, so the file is read. */
  #assertReadable(path: string, count: number): void {
    const copy = new hnswlib.HierarchicalNSW(this.#space, this.dimension);
    copy.readIndexSync(path);
    if (copy.getCurrentCount() !== count) throw new Error(`${copy.getCurrentCount()} of ${count} points were written`);
  }

  /** Takes over the rows and the graph of a saved index; builds the graph if there is none. */
  async restore({ rows, findPart }: SavedIndex): Promise<void> {
    const path = findPart('graph-');
    if (path === undefined) return this.load(rows);
    this.assertRoom(rows);
    for (const row of rows) {
      this.table.put(row, row.slot);
      if (row.vector !== null) this.#shown.add(row.slot);
    }
    this.#graph = new hnswlib.HierarchicalNSW(this.#space, this.dimension);
    try {
      this.#graph.readIndexSync(path);
    } catch (error) {
      throw new ChecksumMismatchError(path, (error as Error).message, 'save the index again');
    }
    this.#graph.setEf(this.#options.efSearch);
  }

  protected override free(): void {
    this.#graph = null;
    this.#shown.clear();
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export const openHnswVectors: OpenVectorIndex<HnswVectorsOptions> = async (options, { dimension, saved }) => {
  const index = new HnswVectorIndex(options, dimension);
  if (saved !== undefined) await index.restore(saved);
  return index;
};
